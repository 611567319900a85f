import type { Stage } from "../api/call.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/environment.ts";

/** The text of the line that a request gets. */
export const REQUEST_LINE = "request";

/**
 * Writes a line for every request once it is answered: who, what, the code, and how long it took. The query is left out, since
 * commands of exec and tokens of proxies stand in it; `verb` says whether it was a list or a watch.
 */
export function logRequests({ clock, log }: { readonly clock: Clock; readonly log: Log }): Stage {
  return (next) => (call) => {
    const start = clock.monotonic();
    const { method, path, remoteAddress } = call.request;
    call.whenFinished(({ code, bytes }) => {
      const ms = Math.round(clock.monotonic() - start);
      const { verb } = call.info;
      log.info(REQUEST_LINE, { method, path, verb, code, ms, bytes, user: call.user.name, remoteAddress });
    });
    return next(call);
  };
}
