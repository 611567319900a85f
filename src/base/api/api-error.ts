import { quote } from "../go/quote.ts";
import { causeOf, type FieldError, MAX_CHARACTERS, MAX_ERRORS, printFieldError } from "./field-error.ts";
import type { JsonObject } from "./object.ts";
import type { Status, StatusCause, StatusDetails } from "./status.ts";

/** The resource that an error is about. */
export interface ResourceName {
  readonly group: string;
  /** The plural. Includes the subresource where the message names it: `deployments/scale`. */
  readonly resource: string;
}

/** Rejects a request with a Status. Created only by the functions of this file, one per reason. */
export class ApiError extends Error {
  readonly status: Status;
  readonly code: number;

  constructor(code: number, status: Omit<Status, "kind" | "apiVersion" | "metadata">, cause?: unknown) {
    super(typeof status.message === "string" ? status.message : "", { cause });
    this.name = "ApiError";
    this.code = code;
    this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...status, code };
  }
}

function qualified(name: ResourceName): string {
  return name.group === "" ? name.resource : `${name.resource}.${name.group}`;
}

function about(target: ResourceName, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(target.group === "" ? {} : { group: target.group }),
    ...(target.resource === "" ? {} : { kind: target.resource }),
  };
}

/** 404: the object does not exist. */
export function notFound(target: ResourceName, name: string): ApiError {
  const message = `${qualified(target)} ${quote(name)} not found`;
  return new ApiError(404, { message, reason: "NotFound", details: about(target, name) });
}

/** 404: no resource is served at this path of a known group version. */
export function unknownPath(): ApiError {
  return new ApiError(404, {
    message: "the server could not find the requested resource",
    reason: "NotFound",
    details: {},
  });
}

/** 409: an object with this name exists. */
export function alreadyExists(target: ResourceName, name: string, isBeingDeleted = false): ApiError {
  const prefix = isBeingDeleted ? "object is being deleted: " : "";
  const message = `${prefix}${qualified(target)} ${quote(name)} already exists`;
  return new ApiError(409, { message, reason: "AlreadyExists", details: about(target, name) });
}

/** 409: no unused name was found for generateName. */
export function generatedNameTaken(target: ResourceName, name: string): ApiError {
  return new ApiError(409, {
    message: `${qualified(target)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    reason: "AlreadyExists",
    details: { ...about(target, name), retryAfterSeconds: 1 },
  });
}

/** 409: the object is not in the state that the caller assumed. `text` is the reason. */
export function conflict(target: ResourceName, name: string, text: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(target)} ${quote(name)}: ${text}`;
  return new ApiError(409, { message, reason: "Conflict", details: about(target, name) });
}

/** The Conflict message for a stale resourceVersion. */
export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409: other field managers own fields that an apply would change. Each conflicting path is a cause. */
export function ownedByOthers(message: string, causes: readonly StatusCause[]): ApiError {
  return new ApiError(409, { message, reason: "Conflict", details: { causes: [...causes] } });
}

/** 422: validation failed. `kind` is the kind of the object, or that of the options. */
export function invalid(kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): ApiError {
  const title = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const different = new Set<string>();
  const reported: FieldError[] = [];
  let characters = 0;
  for (const error of errors) {
    if (reported.length >= MAX_ERRORS || characters > MAX_CHARACTERS) break;
    const text = printFieldError(error);
    characters += text.length;
    if (!different.has(text) || error.isRepeated) reported.push(error);
    different.add(text);
  }
  const texts = [...different];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new ApiError(422, {
    message: `${title} ${quote(name)} is invalid: ${text}`,
    reason: "Invalid",
    details: {
      ...about({ group: kind.group, resource: kind.kind }, name),
      ...(errors.length > 0 ? { causes: reported.map(causeOf) } : {}),
    },
  });
}

/** 422: query or body options are invalid. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): ApiError {
  return invalid({ group: "meta.k8s.io", kind }, "", errors);
}

/**
 * 422: the patch cannot be applied to the object. Compat: `NewGenericServerResponse` replaces the reason with a general
 * message, so only `cause` contains the reason.
 */
export function unprocessable(reason?: string): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError(422, { message, reason: "Invalid", details: {} }, reason);
}

/** 400: the request is malformed. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, { message, reason: "BadRequest" });
}

/** 401: the request is not authenticated. */
export function unauthorized(): ApiError {
  return new ApiError(401, { message: "Unauthorized", reason: "Unauthorized" });
}

/** 403: denied by authorization or by an admission plugin. */
export function forbidden(
  target: ResourceName,
  name: string,
  text: string,
  causes: readonly StatusCause[] = [],
): ApiError {
  // Compat: NewForbidden uses GroupResource.Empty(), so a group without a resource is named as well.
  const isNothing = target.resource === "" && target.group === "";
  const subject = isNothing ? "" : name === "" ? `${qualified(target)} is ` : `${qualified(target)} ${quote(name)} is `;
  return new ApiError(403, {
    message: `${subject}forbidden: ${text}`,
    reason: "Forbidden",
    details: {
      ...(isNothing ? {} : about(target, name)),
      ...(causes.length === 0 ? {} : { causes: [...causes] }),
    },
  });
}

/**
 * The rejection of a ValidatingAdmissionPolicy: `ApiError` with another reason, the code of that reason, and one more
 * cause.
 */
export function refusedByPolicy({ status }: ApiError, reason: string, cause: string): ApiError {
  const causes = [...(status.details?.causes ?? []), { message: cause }];
  return new ApiError(POLICY_CODES.get(reason) ?? 422, { ...status, reason, details: { ...status.details, causes } });
}

/**
 * 403 with the messages of mutating admission policies; the first one becomes the message. Upstream:
 * `policyDispatcher`.
 */
export function mutationRefused(
  { status }: ApiError,
  reason: string | undefined,
  messages: readonly string[],
): ApiError {
  const causes = messages.map((message) => ({ message }));
  const details = { ...status.details, causes };
  return new ApiError(403, { ...status, message: messages[0], reason: reason ?? "Forbidden", details });
}

/** Upstream: `reasonToCode`. */
const POLICY_CODES: ReadonlyMap<string, number> = new Map([
  ["Forbidden", 403],
  ["Unauthorized", 401],
  ["RequestEntityTooLarge", 413],
]);

/** 405: the path exists, but not with this method. */
export function methodNotAllowed(): ApiError {
  return new ApiError(405, {
    message: "the server does not allow this method on the requested resource",
    reason: "MethodNotAllowed",
    details: {},
  });
}

/** 405: the resource does not support this verb. */
export function unsupportedVerb(target: ResourceName, verb: string): ApiError {
  return new ApiError(405, {
    message: `${verb} is not supported on resources of kind ${quote(qualified(target))}`,
    reason: "MethodNotAllowed",
    details: about(target, ""),
  });
}

/** 406: none of the media types that the client accepts can be served. */
export function notAcceptable(message: string, details?: StatusDetails): ApiError {
  return new ApiError(406, { message, reason: "NotAcceptable", ...(details ? { details } : {}) });
}

/**
 * 410: the requested resourceVersion is too old. `continueToken` lets a list continue from the latest state.
 */
export function expired(message: string, continueToken?: string): ApiError {
  const error = new ApiError(410, { message, reason: "Expired" });
  if (continueToken !== undefined) error.status.metadata = { continue: continueToken };
  return error;
}

/** 413: the request is larger than allowed. */
export function requestEntityTooLarge(text: string): ApiError {
  return new ApiError(413, { message: `Request entity too large: ${text}`, reason: "RequestEntityTooLarge" });
}

/** 415: the media type of the body is not supported. */
export function unsupportedMediaType(message: string, details?: StatusDetails): ApiError {
  return new ApiError(415, { message, reason: "UnsupportedMediaType", ...(details ? { details } : {}) });
}

/** 429: too many requests. 0 seconds: no retry time is reported. */
export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes: readonly StatusCause[] = [],
): ApiError {
  const details = {
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    ...(causes.length === 0 ? {} : { causes: [...causes] }),
  };
  return new ApiError(429, { message, reason: "TooManyRequests", details });
}

/** 500: an internal failure. `text` must not contain internals. */
export function internalError(text: string, cause?: unknown): ApiError {
  return new ApiError(
    500,
    {
      message: `Internal error occurred: ${text}`,
      reason: "InternalError",
      details: { causes: [{ message: text }] },
    },
    cause,
  );
}

/** An error that kube-apiserver reports without a reason: only the code and the message. */
export function plainError(code: number, message: string): ApiError {
  return new ApiError(code, { message });
}

/** An error that was created in another thread of this server. */
export function receivedError(code: number, status: ApiError["status"]): ApiError {
  return new ApiError(code, status);
}

/** The rejection of another server, such as a webhook. Codes above 999 become 500. */
export function statusError(code: number, status: JsonObject): ApiError {
  return new ApiError(code > 999 ? 500 : code, status);
}

/** 500: the store did not respond. The operation may be retried. */
export function serverTimeout(target: ResourceName, operation: string): ApiError {
  return new ApiError(500, {
    message: `The ${operation} operation against ${qualified(target)} could not be completed at this time, please try again.`,
    reason: "ServerTimeout",
    details: { ...about(target, operation), retryAfterSeconds: 2 },
  });
}

/** 503: temporarily unavailable. */
export function serviceUnavailable(message: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(503, {
    message,
    reason: "ServiceUnavailable",
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });
}

/** 504: timeout. The client may retry after `retryAfterSeconds`, if given. */
export function timeout(text: string, retryAfterSeconds?: number): ApiError {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new ApiError(504, { message: `Timeout: ${text}`, reason: "Timeout", details });
}

/** 504: the resourceVersion is newer than the latest one. */
export function futureVersion(requested: number, current: number): ApiError {
  return new ApiError(504, {
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    reason: "Timeout",
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
