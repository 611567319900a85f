import { type ApiError, badRequest, internalError, statusError } from "../../api/api-error.ts";
import type { JsonObject } from "../../api/object.ts";
import { quote } from "../../lib/go/quote.ts";

/** A webhook could not be asked, or its answer was of no use. Upstream: `ErrCallingWebhook`. */
export class CallFailure extends Error {
  /** The HTTP code that metrics have for it. */
  readonly code: number;

  constructor(reason: string, code: number) {
    super(reason);
    this.code = code;
  }
}

/** A webhook said no. Upstream: `ErrWebhookRejection`. */
export class Denial extends Error {
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

/** 500: the webhook of this name could not be asked, and its failurePolicy is Fail. */
export function callError(name: string, failure: CallFailure): ApiError {
  return internalError(`failed calling webhook ${quote(name)}: ${failure.message}`);
}

/** 400: the webhook of this name has side effects, which a dry run must not have. */
export function dryRunError(name: string): ApiError {
  return badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

/** What a webhook that denies is passed on as. Upstream: `ToStatusErr`. */
export function deniedError(name: string, status: JsonObject | undefined): ApiError {
  const { code, message, reason, details, metadata } = status ?? {};
  const by = `admission webhook ${quote(name)} denied the request`;
  const text = message || reason;
  return statusError(typeof code === "number" && code >= 400 ? code : 400, {
    ...(metadata !== undefined && { metadata }),
    message: text ? `${by}: ${text}` : `${by} without explanation`,
    ...(typeof reason === "string" && reason !== "" && { reason }),
    ...(details !== undefined && { details }),
  });
}
