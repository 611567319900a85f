import { timeout } from "../api/api-error.ts";
import type { Stage } from "../api/call.ts";

const LONG_RUNNING_SUBRESOURCES: readonly string[] = ["attach", "exec", "log", "portforward", "proxy"];

/** Ends requests that take too long. Watches and streams are exempt. */
export function limitDuration(maxMs: number): Stage {
  return (next) => (call) => {
    const { verb, subresource } = call.info;
    if (verb === "watch" || LONG_RUNNING_SUBRESOURCES.includes(subresource)) return next(call);
    return new Promise((resolve, reject) => {
      const text = "request did not complete within the allotted timeout";
      const timer = setTimeout(() => reject(timeout(text)), maxMs);
      next(call)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  };
}
