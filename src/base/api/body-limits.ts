import { type ApiError, requestEntityTooLarge } from "./api-error.ts";

/** Maximum size of a request body, and of the JSON of the fields that decoding adds to it. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/**
 * Maximum size of options, and of reviews that every user may create. Differs: kube-apiserver reads `MAX_BODY_BYTES` of
 * every body.
 */
export const MAX_QUESTION_BYTES = 64 * 1024;

/**
 * Maximum size of the body of a kind whose objects are never large. Annotations may take 256 KiB. Differs: as
 * `MAX_QUESTION_BYTES`.
 */
export const MAX_SMALL_OBJECT_BYTES = 512 * 1024;

/**
 * Maximum number of values in a body: members and items, where an object or a list counts twice. Differs:
 * kube-apiserver has no such limit. A list of 800,000 empty objects fits into a body, but takes a hundred times its
 * size in memory once it is decoded.
 */
export const MAX_VALUES = 350_000;

/**
 * Maximum size of a response from a webhook: a patch as large as a body, in base64, and the rest of its review. Differs:
 * kube-apiserver has no such limit.
 */
export const MAX_ANSWER_BYTES = (MAX_BODY_BYTES / 3) * 4 + 1024 * 1024;

/** Limits for a response from another server. */
export interface AnswerLimits {
  readonly maxBytes: number;
  readonly maxValues: number;
}

/** Limits for a response that is decoded on the event loop. That takes less than 100 ms, whatever its values are. */
export const INLINE_LIMITS: AnswerLimits = { maxBytes: 1024 * 1024, maxValues: 50_000 };

/** Limits for a response that is decoded in a thread for large requests. */
export const THREAD_LIMITS: AnswerLimits = { maxBytes: MAX_ANSWER_BYTES, maxValues: MAX_VALUES };

/** Maximum size of YAML from another server, and of a Status in an error response. */
export const MAX_SLOW_BYTES = 64 * 1024;

/** 413: the body has more values than `MAX_VALUES`. */
export function tooManyValues(): ApiError {
  return requestEntityTooLarge(`limit is ${MAX_VALUES} values`);
}

/** 413: the fields that decoding adds to the body take more than `MAX_BODY_BYTES`. */
export function tooManyAdded(): ApiError {
  return requestEntityTooLarge(`limit is ${MAX_BODY_BYTES} with the fields that are always written`);
}
