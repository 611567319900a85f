import { timeout } from "../api/api-error.ts";
import type { Stage } from "../api/call.ts";
import type { Clock } from "../lib/clock.ts";

const LONG_RUNNING_SUBRESOURCES: readonly string[] = ["attach", "exec", "log", "portforward", "proxy"];

/** Ends requests that take too long. Watches and streams are exempt. */
export function limitDuration(maxMs: number, clock: Clock): Stage {
  return (next) => (call) => {
    const { verb, subresource } = call.info;
    if (verb === "watch" || LONG_RUNNING_SUBRESOURCES.includes(subresource)) return next(call);
    return new Promise((resolve, reject) => {
      const text = "request did not complete within the allotted timeout";
      const timer = clock.setTimer(maxMs, () => reject(timeout(text)));
      next(call)
        .then(resolve, reject)
        .finally(() => timer.close());
    });
  };
}
