import { type ApiError, requestEntityTooLarge } from "./api-error.ts";

/** How many bytes a body may have, and how many bytes of JSON the fields may have that decoding adds to it. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/**
 * How many values a body may have: members and items, of which an object or a list counts twice. The real server has no
 * such limit, but a list of 800,000 empty objects fits into a body, and takes a hundred times its room once it is read.
 */
export const MAX_VALUES = 350_000;

/** 413: the body has more values than `MAX_VALUES`. */
export function tooManyValues(): ApiError {
  return requestEntityTooLarge(`limit is ${MAX_VALUES} values`);
}

/** 413: the fields that decoding adds to the body take more than `MAX_BODY_BYTES`. */
export function tooManyAdded(): ApiError {
  return requestEntityTooLarge(`limit is ${MAX_BODY_BYTES} with the fields that are always written`);
}
