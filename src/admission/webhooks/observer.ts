import type { ConditionResult } from "../matching/conditions.ts";
import type { AdmissionRequest } from "../plugin.ts";

/** What metrics call the two kinds of webhooks. */
export type WebhookType = "admit" | "validating";

/** Why a webhook stood in the way of a request, as metrics call it. */
export type RejectionCause = "calling_webhook_error" | "apiserver_internal_error" | "no_error";

/** What came of a call. */
export interface CallOutcome {
  readonly isRejected: boolean;
  readonly code: number;
  /** Absent: it did not stand in the way, or nobody waits any more. */
  readonly cause?: RejectionCause;
}

/** Hears what webhooks do. */
export interface WebhookObserver {
  called(
    name: string,
    type: WebhookType,
    operation: AdmissionRequest["operation"],
    outcome: CallOutcome,
    seconds: number,
  ): void;
  failedOpen(name: string, type: WebhookType): void;
  conditionsEvaluated(
    name: string,
    type: WebhookType,
    operation: AdmissionRequest["operation"],
    result: ConditionResult,
    seconds: number,
  ): void;
}

/** Hears nothing. */
export const unobserved: WebhookObserver = {
  called: () => {},
  failedOpen: () => {},
  conditionsEvaluated: () => {},
};
