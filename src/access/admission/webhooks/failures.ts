import { type ApiError, badRequest, internalError, statusError } from "../../../base/api/api-error.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";

/** A webhook call failed, or its response was invalid. Upstream: `ErrCallingWebhook`. */
export class CallFailure extends Error {
  /** The HTTP code for metrics. */
  readonly code: number;

  constructor(reason: string, code: number) {
    super(reason);
    this.code = code;
  }
}

/** A webhook denied the request. Upstream: `ErrWebhookRejection`. */
export class Denial extends Error {
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

/** 500: the call failed, and failurePolicy is Fail. */
export function callError(name: string, failure: CallFailure): ApiError {
  return internalError(`failed calling webhook ${quote(name)}: ${failure.message}`);
}

/** 400: the webhook has side effects, which are not allowed in a dry run. */
export function dryRunError(name: string): ApiError {
  return badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

/** The error for a denial by a webhook. Upstream: `ToStatusErr`. */
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
