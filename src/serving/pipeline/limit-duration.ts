import { timeout } from "../../base/api/api-error.ts";
import type { Stage } from "../../base/api/call.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Clock } from "../../base/util/clock.ts";

/** Options of the request deadline. */
export interface DeadlineOptions {
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Whether a request has no deadline: watches and subresources that connect. */
  readonly isLongRunning: (info: RequestInfo) => boolean;
}

/** Compat: `requestTimeoutUpperBound`: time limit for a write, including webhooks. */
const UPPER_BOUND_MS = 34_000;

/** Rejects requests that exceed the deadline with 504 and aborts their signal. Long-running requests are exempt. */
export function limitDuration({ requestTimeoutMs, clock, isLongRunning }: DeadlineOptions): Stage {
  return (next) => (call) => {
    if (isLongRunning(call.info)) return next(call);
    call.deadlineMs = clock.monotonic() + Math.min(requestTimeoutMs, UPPER_BOUND_MS);
    const replying = next(call);
    // What has been answered already needs no timer.
    if (!(replying instanceof Promise)) return replying;
    return new Promise((resolve, reject) => {
      const timer = clock.setTimer(requestTimeoutMs, () => {
        const error = timeout("request did not complete within the allotted timeout");
        reject(error);
        call.request.abort(error);
      });
      replying.then(
        (reply) => {
          timer.close();
          resolve(reply);
        },
        (error) => {
          timer.close();
          reject(error);
        },
      );
    });
  };
}
