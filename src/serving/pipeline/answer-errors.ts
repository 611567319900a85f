import { ApiError, internalError } from "../../base/api/api-error.ts";
import type { Call, Stage } from "../../base/api/call.ts";
import type { Log } from "../../base/util/environment.ts";

/** Reports an unexpected error, that is, anything thrown that is not an ApiError. */
export type ReportError = (error: unknown, call: Call) => void;

/** Logs an unexpected error with the method and path of its request. */
export function logUnexpected(log: Pick<Log, "error">): ReportError {
  return (error, { request: { method, path } }) =>
    log.error("request failed with an unexpected error, responding 500", { err: error, method, path });
}

/** Converts anything thrown into an ApiError. Other errors are reported and answered with 500, without internals. */
export function answerErrors(report: ReportError): Stage {
  const convert = (error: unknown, call: Call): never => {
    if (error instanceof ApiError) throw error;
    report(error, call);
    throw internalError("unexpected error", error);
  };
  return (next) => (call) => {
    try {
      const replying = next(call);
      return replying instanceof Promise ? replying.catch((error) => convert(error, call)) : replying;
    } catch (error) {
      return convert(error, call);
    }
  };
}
