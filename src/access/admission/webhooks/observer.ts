import type { ConditionResult } from "../matching/conditions.ts";
import type { AdmissionRequest } from "../plugin.ts";

/** Metric labels of the two kinds of webhooks. */
export type WebhookType = "admit" | "validating";

/** Why a webhook caused a rejection, as used in metric labels. */
export type RejectionCause = "calling_webhook_error" | "apiserver_internal_error" | "no_error";

/** Result of a call. */
export interface CallOutcome {
  readonly isRejected: boolean;
  readonly code: number;
  /** Absent if the call did not cause a rejection, or the client no longer waits. */
  readonly cause?: RejectionCause;
}

/** Receives the results of webhooks. */
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

/** Ignores everything. */
export const unobserved: WebhookObserver = {
  called: () => {},
  failedOpen: () => {},
  conditionsEvaluated: () => {},
};
