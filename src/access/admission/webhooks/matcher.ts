import { forbidden } from "../../../base/api/api-error.ts";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { WebhookNotes } from "../explain/webhook-notes.ts";
import { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { requestActivation } from "../expressions/request-activation.ts";
import { matchedApiVersion } from "../expressions/request-variable.ts";
import { targetOf } from "../matches.ts";
import { isAdmissionConfiguration, isReview } from "../matching/exempt.ts";
import type { Match } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { inVersion, type VersionedObjects } from "../versioned.ts";
import type { WebhookObserver, WebhookType } from "./observer.ts";
import type { PlacedWebhook, WebhookSource } from "./webhook-source.ts";

/**
 * Converts the objects of one request to the versions that webhooks need. Results are cached until the object changes.
 */
export class VersionedRequest {
  readonly request: AdmissionRequest;
  /** Records results for an explanation. Undefined if none was requested. */
  readonly notes: WebhookNotes | undefined;
  readonly #made = new Map<string, VersionedObjects>();

  constructor(request: AdmissionRequest, type: WebhookType) {
    this.request = request;
    this.notes = request.trace && new WebhookNotes(request.trace, request, type);
  }

  async in(apiVersion: string): Promise<VersionedObjects> {
    const known = this.#made.get(apiVersion);
    if (known) return known;
    const objects = await inVersion(this.request, apiVersion);
    this.#made.set(apiVersion, objects);
    return objects;
  }

  /** Call it when the object has changed. */
  changed(): void {
    this.#made.clear();
  }
}

/** Options of a WebhookMatcher. */
export interface MatcherOptions {
  readonly source: WebhookSource;
  readonly access: ObjectAccess;
  readonly authorizer: Authorizer;
  readonly observer: WebhookObserver;
  readonly clock: { monotonic(): number };
  /** Metric label of the webhooks. */
  readonly type: WebhookType;
}

/** Decides which webhooks are called for a request. Upstream: `generic.Webhook`. */
export class WebhookMatcher {
  readonly #options: MatcherOptions;

  constructor(options: MatcherOptions) {
    this.#options = options;
  }

  /** The webhooks whose rules match, in call order. */
  candidates(request: AdmissionRequest): readonly Match<PlacedWebhook>[] {
    if (isReview(request)) return NONE;
    const found = this.#options.source.index.find(request);
    if (found.length === 0 || !isAdmissionConfiguration(request)) return found;
    return found.filter(({ item }) => item.webhook.isFixed);
  }

  /** Whether selectors and conditions match as well. Upstream: `ShouldCallHook`. */
  async isConcerned({ item, matched }: Match<PlacedWebhook>, versions: VersionedRequest): Promise<boolean> {
    const { access, authorizer, observer, clock, type } = this.#options;
    const { request, notes } = versions;
    const { webhook } = item;
    const { selectors, conditions, name } = webhook;
    notes?.met(webhook);
    if (!selectors.areEmpty && !(await selectors.match(request, request, access))) {
      notes?.ended(webhook, "skipped", "its namespaceSelector or objectSelector does not match");
      return false;
    }
    if (conditions.areEmpty) return true;
    const startMs = clock.monotonic();
    const objects = await versions.in(matchedApiVersion(matched));
    const answers = new AuthorizerAnswers(authorizer, request.user);
    const activation = requestActivation(request, matched, objects, answers);
    const result = await conditions.evaluate(activation, answers);
    const seconds = (clock.monotonic() - startMs) / 1000;
    observer.conditionsEvaluated(name, type, request.operation, result, seconds);
    if (notes) {
      await notes.conditions(webhook, activation, answers);
      if (result.error !== undefined) notes.ended(webhook, "denied", result.error);
      else if (!result.matches) notes.ended(webhook, "skipped", "a match condition is false");
    }
    if (result.error !== undefined) throw forbidden(targetOf(request), request.name, result.error);
    return result.matches;
  }
}

const NONE: readonly Match<PlacedWebhook>[] = [];
