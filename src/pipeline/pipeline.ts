import { ApiError, internalError, timeout, unauthorized } from "../api/api-error.ts";
import type { Call, Handler, Stage } from "../api/call.ts";
import type { Authenticator } from "../auth/authenticator.ts";

/** Joins stages into one handler; the first stage is the outermost. */
export function compose(stages: readonly Stage[], innermost: Handler): Handler {
  return stages.reduceRight((next, stage) => stage(next), innermost);
}

/** Reports what nobody expected. */
export type ReportError = (error: unknown, call: Call) => void;

/** Turns anything thrown into an ApiError. Unknown errors are reported and answered without internals. */
export function answerErrors(report: ReportError): Stage {
  return (next) => async (call) => {
    try {
      return await next(call);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      report(error, call);
      throw internalError("unexpected error", error);
    }
  };
}

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

/** Anyone may ask whether the server lives and which version it is. */
const PUBLIC_PATHS: readonly string[] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/** Lets in whom one of the authenticators recognises; everybody else is refused, except on public paths. */
export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (next) => async (call) => {
    for (const authenticator of authenticators) {
      const user = await authenticator.authenticate(call.request);
      if (user) {
        call.user = user;
        return next(call);
      }
    }
    if (PUBLIC_PATHS.includes(call.request.path) && call.request.headers.authorization === undefined) return next(call);
    throw unauthorized();
  };
}
