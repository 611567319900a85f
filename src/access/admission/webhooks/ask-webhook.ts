import { qualifiedName } from "../../../base/api/names.ts";
import type { Json } from "../../../base/api/object.ts";
import type { Random } from "../../../base/util/random.ts";
import type { Webhook } from "../../../kinds/types/admission-registration.ts";
import type { WebhookNotes } from "../explain/webhook-notes.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { VersionedObjects } from "../versioned.ts";
import type { CompiledWebhook } from "./compiled-webhook.ts";
import { CallFailure, Denial, deniedError, dryRunError } from "./failures.ts";
import { BadReview, type ReviewResponse, readReview, reviewVersion, writeReview } from "./review.ts";

/** A webhook call. */
export interface WebhookCall {
  readonly clientConfig: NonNullable<Webhook["clientConfig"]>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Posts JSON to a webhook and resolves with the JSON of its response. Throws CallFailure with the message of upstream's
 * client.
 */
export type CallWebhook = (call: WebhookCall) => Promise<Json>;

/** Options of `askWebhook`. */
export interface AskContext {
  readonly call: CallWebhook;
  readonly random: Pick<Random, "uuid">;
  readonly clock: { monotonic(): number };
}

/** A call of a webhook for a request. */
export interface Question {
  readonly webhook: CompiledWebhook;
  readonly request: AdmissionRequest;
  readonly matched: MatchedResource;
  readonly objects: VersionedObjects;
  readonly isMutating: boolean;
  /** Records the result for an explanation. Undefined if none was requested. */
  readonly notes?: WebhookNotes | undefined;
}

/** Maximum number of audit annotations of one response. Differs: kube-apiserver keeps all of them. */
const MAX_ANNOTATIONS = 1000;
const WITHOUT_EFFECTS: ReadonlySet<string> = new Set(["None", "NoneOnDryRun"]);

/** Calls a webhook, and passes on its warnings and annotations. Throws CallFailure, Denial and ApiError. */
export async function askWebhook(context: AskContext, question: Question): Promise<ReviewResponse> {
  const { webhook, request, matched, objects, isMutating } = question;
  const { name, spec } = webhook;
  if (request.dryRun) {
    if (spec.sideEffects === undefined || spec.sideEffects === null) {
      throw new CallFailure("Webhook SideEffects is nil", 400);
    }
    if (!WITHOUT_EFFECTS.has(spec.sideEffects)) throw dryRunError(name);
  }
  const version = reviewVersion(spec.admissionReviewVersions);
  if (version === undefined) {
    const text = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    throw new CallFailure(`could not create admission objects: ${text}`, 400);
  }
  const uid = context.random.uuid();
  const answer = await context.call({
    clientConfig: spec.clientConfig ?? {},
    body: writeReview(version, uid, request, matched, objects),
    timeoutMs: timeLeft(context, question),
    signal: request.signal,
  });
  const response = readAnswer(() => readReview(answer, version, uid, isMutating));
  const annotations = Object.entries(response.annotations).slice(0, MAX_ANNOTATIONS);
  for (const [key, value] of annotations) annotate(request, `${name}/${key}`, value);
  for (const text of response.warnings) request.warn(text);
  if (!response.isAllowed) throw new Denial(deniedError(name, response.status));
  return response;
}

/** All webhooks of a request share its deadline. */
function timeLeft({ clock }: AskContext, { webhook: { spec }, request: { deadlineMs } }: Question): number {
  const own = (spec.timeoutSeconds ?? 10) * 1000;
  return deadlineMs === undefined ? own : Math.min(own, Math.max(1, deadlineMs - clock.monotonic()));
}

function readAnswer(read: () => ReviewResponse): ReviewResponse {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadReview)) throw error;
    const prefix = error.isUndecodable ? "failed to call webhook" : "received invalid webhook response";
    throw new CallFailure(`${prefix}: ${error.message}`, 503);
  }
}

/** Compat: `checkKeyFormat`: an invalid key is omitted. Upstream also logs it. */
function annotate({ annotate: add }: AdmissionRequest, key: string, value: string): void {
  if (add && key.split("/").length === 2 && qualifiedName(key).length === 0) add(key, value);
}
