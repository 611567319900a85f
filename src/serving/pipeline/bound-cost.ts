import { timeout } from "../../base/api/api-error.ts";
import type { Handler } from "../../base/api/call.ts";
import { Meter, metered, TooCostly } from "../../base/util/meter.ts";

/**
 * Units of the meter that a write may use if no other thread can carry it out, about 5 s. The rules of one object may use
 * 10,000,000, and so may each policy.
 */
export const MAX_UNITS = 50_000_000;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/**
 * Ends writes that use up a large meter with 504, as if they had timed out. For writes that only this thread can carry out.
 * Differs: kube-apiserver ends them by the clock, after 34 s.
 */
export function boundCost(next: Handler): Handler {
  return async (call) => {
    if (!WRITES.has(call.info.verb)) return next(call);
    try {
      return await metered(new Meter(MAX_UNITS), () => next(call));
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      throw timeout("request did not complete within the allotted timeout");
    }
  };
}
