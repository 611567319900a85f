import { timeout } from "../api/api-error.ts";
import type { Stage } from "../api/call.ts";
import type { RequestInfo } from "../api/request-info.ts";
import type { Clock } from "../lib/clock.ts";

/** What the deadline of requests depends on. */
export interface DeadlineOptions {
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Whether a request lasts until somebody ends it: watches, and subresources that connect. */
  readonly isLongRunning: (info: RequestInfo) => boolean;
}

/** Compat: `requestTimeoutUpperBound`: what a write is given to come to its end, webhooks included. */
const UPPER_BOUND_MS = 34_000;

/** Ends requests that take too long, and the work on them by their signal. Those that run long are exempt. */
export function limitDuration({ requestTimeoutMs, clock, isLongRunning }: DeadlineOptions): Stage {
  return (next) => (call) => {
    if (isLongRunning(call.info)) return next(call);
    call.deadlineMs = clock.monotonic() + Math.min(requestTimeoutMs, UPPER_BOUND_MS);
    return new Promise((resolve, reject) => {
      const timer = clock.setTimer(requestTimeoutMs, () => {
        const error = timeout("request did not complete within the allotted timeout");
        reject(error);
        call.request.abort(error);
      });
      const end = <T>(settle: (outcome: T) => void) => {
        return (outcome: T): void => {
          timer.close();
          settle(outcome);
        };
      };
      const fail = end(reject);
      try {
        next(call).then(end(resolve), fail);
      } catch (error) {
        fail(error);
      }
    });
  };
}
