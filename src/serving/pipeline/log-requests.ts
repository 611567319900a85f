import type { Stage } from "../../base/api/call.ts";
import { REQUEST_LINE } from "../../base/log/request-line.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";

/**
 * Logs a line per request once it is answered: method, path, verb, code, duration, user. The query is left out because
 * it contains exec commands and proxy tokens; `verb` tells lists from watches.
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
