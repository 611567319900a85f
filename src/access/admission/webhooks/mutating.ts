import type { Json, KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { sameValue } from "../../../data/patch/apply/typed.ts";
import type { DefaultsContext } from "../../../resources/model/definition.ts";
import { matchedApiVersion } from "../expressions/request-variable.ts";
import type { Match } from "../matching/match-index.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { Reinvocation } from "../reinvocation.ts";
import { applyReviewPatch, type PatchedObject } from "./apply-patch.ts";
import { askAndJudge, type CallContext, requireTime } from "./ask-and-judge.ts";
import type { Question } from "./ask-webhook.ts";
import { VersionedRequest, type WebhookMatcher } from "./matcher.ts";
import type { ReviewResponse } from "./review.ts";

import type { PlacedWebhook } from "./webhook-source.ts";

const PLUGIN = "MutatingAdmissionWebhook";
const PREFIX = "webhook.admission.k8s.io/round_";

/** State that is kept between the two rounds. Upstream: `webhookReinvokeContext`. */
class Rounds {
  /** The object at the end of the last round. */
  #last: KubeObject | undefined;
  /** Webhooks with `reinvocationPolicy: IfNeeded` that were called since the last change. */
  #called = new Set<string>();
  readonly #wanted = new Set<string>();

  /** The object has changed: webhooks that were called before are called again. */
  objectChanged(): void {
    for (const id of this.#called) this.#wanted.add(id);
    this.#called = new Set();
  }

  wasCalled(id: string): void {
    this.#called.add(id);
  }

  isWanted(id: string): boolean {
    return this.#wanted.has(id);
  }

  begin(object: KubeObject | undefined): void {
    if (this.#called.size > 0 && !sameValue(this.#last, object)) this.objectChanged();
  }

  end(object: KubeObject | undefined): void {
    if (this.#called.size > 0) this.#last = object && cloneJson(object);
  }
}

/** Options of mutating webhooks. */
export interface MutatingContext extends CallContext {
  readonly defaults: DefaultsContext;
  /** Maximum number of values in a patch. */
  readonly maxValues: number;
}

/**
 * MutatingAdmissionWebhook: calls the webhooks one after the other; each receives the object as the previous ones left
 * it. After a change, webhooks with `reinvocationPolicy: IfNeeded` are called once more.
 */
export function mutatingWebhooks(matcher: WebhookMatcher, context: MutatingContext): AdmissionPlugin {
  return {
    name: PLUGIN,
    handles: (request) => matcher.candidates(request).length > 0,
    async mutate(request) {
      request.reinvocation ??= new Reinvocation();
      const rounds = request.reinvocation.note(PLUGIN, () => new Rounds());
      if (request.reinvocation.isReinvoke) rounds.begin(request.object);
      try {
        const versions = new VersionedRequest(request, "admit");
        for (const match of matcher.candidates(request)) await callInTurn(matcher, context, match, versions, rounds);
      } finally {
        rounds.end(request.object);
      }
    },
  };
}

async function callInTurn(
  matcher: WebhookMatcher,
  context: MutatingContext,
  match: Match<PlacedWebhook>,
  versions: VersionedRequest,
  rounds: Rounds,
): Promise<void> {
  const { request } = versions;
  const { webhook, position } = match.item;
  const { reinvocation } = request;
  if (!(await matcher.isConcerned(match, versions))) return;
  // Compat: `ShouldReinvokeWebhook`: a webhook that was not called in the first round is not called in the second, even
  // if it matches by then.
  if (reinvocation?.isReinvoke && !rounds.isWanted(webhook.id)) {
    if (webhook.spec.reinvocationPolicy === "IfNeeded") {
      versions.notes?.ended(webhook, "skipped", "the object has not changed since its last call");
    }
    return;
  }
  const { matched } = match;
  const objects = await versions.in(matchedApiVersion(matched));
  const question: Question = { webhook, request, matched, objects, isMutating: true, notes: versions.notes };
  const place = `${PREFIX}${reinvocation?.isReinvoke ? 1 : 0}_index_${position}`;
  let isChanged = false;
  const use = async (response: ReviewResponse): Promise<true> => {
    const patched = readPatch(question, response, context.maxValues);
    if (patched) {
      isChanged = patched.isChanged;
      await patched.store(context.defaults);
      versions.changed();
      annotatePatch(request, question, place, patched.patch);
    }
    return true;
  };
  try {
    const isDone = await askAndJudge(context, question, use);
    if (isDone === undefined && !request.signal?.aborted)
      request.annotate?.(`failed-open.mutation.${place}`, webhook.name);
    if (isDone === undefined) requireTime(request, context);
  } finally {
    const { configuration, name } = webhook;
    const value = JSON.stringify({ configuration, webhook: name, mutated: isChanged });
    request.annotate?.(`mutation.${place}`, value);
    if (isChanged) {
      rounds.objectChanged();
      reinvocation?.request();
    }
    if (webhook.spec.reinvocationPolicy === "IfNeeded") rounds.wasCalled(webhook.id);
  }
}

function readPatch(
  { webhook, request, matched, objects }: Question,
  response: ReviewResponse,
  maxValues: number,
): PatchedObject | undefined {
  const { patch, patchType } = response;
  if (!patch) return undefined;
  const given = { name: webhook.name, request, matched, object: objects.object, patch, patchType };
  return applyReviewPatch(given, maxValues);
}

function annotatePatch(request: AdmissionRequest, { webhook }: Question, place: string, patch: Json): void {
  const { configuration, name } = webhook;
  const value = JSON.stringify({ configuration, webhook: name, patch, patchType: "JSONPatch" });
  request.annotate?.(`patch.${place}`, value, true);
}
