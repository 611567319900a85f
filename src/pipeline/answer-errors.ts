import { ApiError, internalError } from "../api/api-error.ts";
import type { Call, Stage } from "../api/call.ts";

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
