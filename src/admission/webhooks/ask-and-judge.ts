import { timeout } from "../../api/api-error.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { type AskContext, askWebhook, type Question } from "./ask-webhook.ts";
import { CallFailure, callError, Denial } from "./failures.ts";
import type { CallOutcome, WebhookObserver, WebhookType } from "./observer.ts";
import type { ReviewResponse } from "./review.ts";

/** What calls of webhooks need. */
export interface CallContext extends AskContext {
  readonly observer: WebhookObserver;
  readonly type: WebhookType;
}

/**
 * Asks a webhook, does something with the answer, and tells the metrics. A call that fails is let pass where the
 * failurePolicy says so: undefined then. Throws ApiError.
 */
export async function askAndJudge<T>(
  context: CallContext,
  question: Question,
  use: (response: ReviewResponse) => Promise<T>,
): Promise<T | undefined> {
  const { observer, clock, type } = context;
  const { webhook, request, notes } = question;
  const { operation } = request;
  const startMs = clock.monotonic();
  const tell = (outcome: CallOutcome) =>
    observer.called(webhook.name, type, operation, outcome, (clock.monotonic() - startMs) / 1000);
  try {
    const used = await use(await askWebhook(context, question));
    tell({ isRejected: false, code: 200 });
    notes?.ended(webhook, "allowed");
    return used;
  } catch (error) {
    if (error instanceof Denial) {
      tell({ isRejected: true, code: error.error.code, cause: "no_error" });
      notes?.ended(webhook, "denied", error.message);
      throw error.error;
    }
    if (!(error instanceof CallFailure)) {
      tell({ isRejected: true, code: 0, cause: "apiserver_internal_error" });
      notes?.ended(webhook, "failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
    const isOver = request.signal?.aborted === true;
    const { code } = error;
    const cause = webhook.failsOpen || isOver ? {} : ({ cause: "calling_webhook_error" } as const);
    tell({ isRejected: !webhook.failsOpen, code, ...cause });
    notes?.ended(webhook, webhook.failsOpen ? "ignored" : "failed", error.message);
    if (!webhook.failsOpen) throw callError(webhook.name, error);
    if (!isOver) observer.failedOpen(webhook.name, type);
    return undefined;
  }
}

/** Throws 504 when the time of the request is over. */
export function requireTime({ signal, deadlineMs }: AdmissionRequest, { clock }: Pick<CallContext, "clock">): void {
  const isOver = signal?.aborted || (deadlineMs !== undefined && clock.monotonic() >= deadlineMs);
  if (isOver) throw timeout("request did not complete within requested timeout");
}
