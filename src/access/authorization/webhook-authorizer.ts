import { hash } from "node:crypto";
import type { Attributes, Authorizer, Decision } from "../../base/api/attributes.ts";
import type { AccessRules, RuleResolver } from "../../base/api/identity.ts";
import type { JsonObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import type { Clock } from "../../base/util/clock.ts";
import {
  type AttemptResult,
  ReviewFailure,
  ReviewWebhook,
  type ReviewWebhookOptions,
} from "../authentication/review-webhook.ts";
import type { MatchConditions } from "./match-conditions.ts";
import { reviewSpec } from "./review-spec.ts";

/** Supported versions of the SubjectAccessReview. */
export const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];

/** Creates a webhook client for SubjectAccessReviews of a version. Throws an Error if the version is unknown. */
export function accessReviewWebhook(
  version: string,
  options: Pick<ReviewWebhookOptions, "post" | "clock" | "random" | "attempted">,
): ReviewWebhook {
  if (!REVIEW_VERSIONS.includes(version)) {
    const supported = REVIEW_VERSIONS.map(quote).join(", ");
    throw new Error(`unsupported webhook authorizer version ${quote(version)}, supported versions are ${supported}`);
  }
  const apiVersion = `authorization.k8s.io/${version}`;
  return new ReviewWebhook({ ...options, title: "the webhook authorizer", kind: "SubjectAccessReview", apiVersion });
}

/** Options of a WebhookAuthorizer. */
export interface WebhookAuthorizerOptions {
  /** Sends SubjectAccessReviews of `version`. */
  readonly webhook: Pick<ReviewWebhook, "ask">;
  readonly version: string;
  /** How long decisions are cached. 0: not cached. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  /** The webhook is only called for matching requests. If omitted, for all. */
  readonly conditions?: MatchConditions;
  /** The decision if the webhook fails: `failurePolicy`. */
  readonly onFailure: "noOpinion" | "deny";
  readonly clock: Pick<Clock, "monotonic">;
  /** Called when the webhook failed. */
  readonly failed: (error: Error, result: AttemptResult) => void;
}

/** Compat: the size of `responseCache`. */
const MAX_ENTRIES = 8192;
/**
 * Compat: `maxControlledAttrCacheSize`. Longer requests are not cached, because they could be meant to fill the cache.
 */
const MAX_CACHED_LENGTH = 10_000;

interface Kept {
  readonly decision: Decision;
  readonly untilMs: number;
}

/** The authorization mode Webhook: sends SubjectAccessReviews to a webhook, and caches its decisions. */
export class WebhookAuthorizer implements Authorizer, RuleResolver {
  readonly #options: WebhookAuthorizerOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: WebhookAuthorizerOptions) {
    this.#options = options;
  }

  /** Number of cached decisions. */
  get size(): number {
    return this.#kept.size;
  }

  async authorize(attributes: Attributes): Promise<Decision> {
    const { webhook, version, clock, conditions, onFailure, failed } = this.#options;
    try {
      if (conditions?.match(attributes) === false) return { decision: "noOpinion" };
    } catch (error) {
      return { decision: onFailure, error: error instanceof Error ? error.message : String(error) };
    }
    const spec = reviewSpec(attributes, version);
    // Hashed, because the spec may be long.
    const key = hash("sha256", JSON.stringify(spec), "base64");
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      if (kept.untilMs > clock.monotonic()) {
        // Moved to the end: the Map is ordered from least to most recently used.
        this.#kept.set(key, kept);
        return kept.decision;
      }
    }
    try {
      const decision = decisionOf(await webhook.ask({ metadata: {}, spec, status: { allowed: false } }));
      if (isShort(attributes)) this.#keep(key, decision);
      return decision;
    } catch (error) {
      if (!(error instanceof ReviewFailure)) throw error;
      failed(error, error.result);
      return { decision: onFailure, error: error.message };
    }
  }

  async rulesFor(): Promise<AccessRules> {
    const evaluationError = "webhook authorizer does not support user rule resolution";
    return { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
  }

  #keep(key: string, decision: Decision): void {
    const { authorizedMs, unauthorizedMs, clock } = this.#options;
    const keptMs = decision.decision === "allow" ? authorizedMs : unauthorizedMs;
    if (keptMs <= 0) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MAX_ENTRIES) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(key, { decision, untilMs: clock.monotonic() + keptMs });
  }
}

function decisionOf({ allowed, denied, reason }: JsonObject): Decision {
  const told = typeof reason === "string" && reason !== "" ? { reason } : {};
  if (denied === true && allowed === true) {
    return { decision: "deny", ...told, error: "webhook subject access review returned both allow and deny response" };
  }
  return { decision: denied === true ? "deny" : allowed === true ? "allow" : "noOpinion", ...told };
}

function isShort({ namespace, verb, apiGroup, apiVersion, resource, subresource, name, path }: Attributes): boolean {
  const all = [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path];
  return all.reduce((length, text) => length + text.length, 0) < MAX_CACHED_LENGTH;
}
