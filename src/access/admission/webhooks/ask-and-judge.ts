import { timeout } from "../../../base/api/api-error.ts";
import { TooCostly } from "../../../base/util/meter.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { type AskContext, askWebhook, type Question } from "./ask-webhook.ts";
import { CallFailure, callError, Denial } from "./failures.ts";
import type { CallOutcome, WebhookObserver, WebhookType } from "./observer.ts";
import type { ReviewResponse } from "./review.ts";

/** Options of webhook calls. */
export interface CallContext extends AskContext {
  readonly observer: WebhookObserver;
  readonly type: WebhookType;
}

/**
 * Calls a webhook, passes its response to `use`, and reports metrics. Returns undefined if the call failed and
 * failurePolicy is Ignore. Throws ApiError.
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
  const report = (outcome: CallOutcome) =>
    observer.called(webhook.name, type, operation, outcome, (clock.monotonic() - startMs) / 1000);
  try {
    const used = await use(await askWebhook(context, question));
    report({ isRejected: false, code: 200 });
    notes?.ended(webhook, "allowed");
    return used;
  } catch (error) {
    if (error instanceof Denial) {
      report({ isRejected: true, code: error.error.code, cause: "no_error" });
      notes?.ended(webhook, "denied", error.message);
      throw error.error;
    }
    if (error instanceof TooCostly) {
      report({ isRejected: false, code: 200 });
      throw error;
    }
    if (!(error instanceof CallFailure)) {
      report({ isRejected: true, code: 0, cause: "apiserver_internal_error" });
      notes?.ended(webhook, "failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
    const isOver = request.signal?.aborted === true;
    const { code } = error;
    const cause = webhook.failsOpen || isOver ? {} : ({ cause: "calling_webhook_error" } as const);
    report({ isRejected: !webhook.failsOpen, code, ...cause });
    notes?.ended(webhook, webhook.failsOpen ? "ignored" : "failed", error.message);
    if (!webhook.failsOpen) throw callError(webhook.name, error);
    if (!isOver) observer.failedOpen(webhook.name, type);
    return undefined;
  }
}

/** Throws 504 if the deadline of the request has passed. */
export function requireTime({ signal, deadlineMs }: AdmissionRequest, { clock }: Pick<CallContext, "clock">): void {
  const isOver = signal?.aborted || (deadlineMs !== undefined && clock.monotonic() >= deadlineMs);
  if (isOver) throw timeout("request did not complete within requested timeout");
}
