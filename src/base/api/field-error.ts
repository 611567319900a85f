import { printGoJson } from "../go/go-json.ts";
import { quote } from "../go/quote.ts";
import type { StatusCause } from "./status.ts";

/** What is wrong with a field, in Kubernetes' cause types. */
export type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooShort"
  | "FieldValueTooMany"
  | "FieldValueTooFew"
  | "InternalError";

/** One validation error of one field. `message` is the wire text after the path. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly message: string;
  /**
   * If true, the error is reported even if an equal one was already reported. Default: equal errors are reported once.
   */
  readonly isRepeated?: boolean;
  /** The error contains no value: the null in its message stays, even if the client sent an empty list or map. */
  readonly hidesValue?: boolean;
}

// Differs: kube-apiserver has no limit, but its request times out long before it has reported so many errors.
/** Maximum number of errors in a response. */
export const MAX_ERRORS = 5_000;
/** Maximum total length of the errors in a response, in characters. The error that exceeds it is still reported. */
export const MAX_CHARACTERS = 4 * 1024 * 1024;

/** The errors of a running check. */
interface Findings {
  readonly errors: FieldError[];
  characters: number;
}

let findings: Findings | undefined;

class TooManyErrors extends Error {}

/**
 * Returns the errors of a check. If they exceed the limits, the check is aborted and the first errors are returned: an
 * object of one megabyte may violate hundreds of thousands of rules.
 */
export function boundedErrors(check: () => FieldError[]): FieldError[] {
  const outer = findings;
  const own: Findings = { errors: [], characters: 0 };
  findings = own;
  try {
    return check();
  } catch (error) {
    if (error instanceof TooManyErrors) return own.errors;
    throw error;
  } finally {
    findings = outer;
  }
}

function fieldError(type: FieldErrorType, field: string, message: string): FieldError {
  const error = { type, field, message };
  if (findings === undefined) return error;
  findings.errors.push(error);
  findings.characters += field.length + message.length;
  if (findings.errors.length >= MAX_ERRORS || findings.characters > MAX_CHARACTERS) throw new TooManyErrors();
  return error;
}

/** A value as a field error prints it: strings quoted, numbers and booleans plain, everything else as JSON. */
export function printValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return value === undefined ? "null" : printGoJson(value);
}

const withDetail = (title: string, detail: string): string => (detail === "" ? title : `${title}: ${detail}`);

/** The value of a field is malformed. */
export function invalidField(field: string, value: unknown, detail: string): FieldError {
  return fieldError("FieldValueInvalid", field, withDetail(`Invalid value: ${printValue(value)}`, detail));
}

/** The value of a field is malformed and must not be shown. */
export function hiddenInvalidField(field: string, detail: string): FieldError {
  return fieldError("FieldValueInvalid", field, withDetail("Invalid value", detail));
}

/** The value of a field has the wrong type. */
export function typeInvalidField(field: string, value: unknown, detail: string): FieldError {
  return fieldError("FieldValueTypeInvalid", field, withDetail(`Invalid value: ${printValue(value)}`, detail));
}

/** A field that must be there is missing or empty. */
export function requiredField(field: string, detail = ""): FieldError {
  return fieldError("FieldValueRequired", field, withDetail("Required value", detail));
}

/** A field may not be set or changed here. */
export function forbiddenField(field: string, detail: string): FieldError {
  return fieldError("FieldValueForbidden", field, withDetail("Forbidden", detail));
}

/** A value occurs twice but must be unique. */
export function duplicateField(field: string, value: unknown): FieldError {
  return fieldError("FieldValueDuplicate", field, `Duplicate value: ${printValue(value)}`);
}

/** The server itself failed on a field. Upstream: `field.InternalError`. */
export function internalField(field: string, detail: string): FieldError {
  return fieldError("InternalError", field, withDetail("Internal error", detail));
}

/** The referenced object or value does not exist. */
export function notFoundField(field: string, value: unknown, detail = ""): FieldError {
  return fieldError("FieldValueNotFound", field, withDetail(`Not found: ${printValue(value)}`, detail));
}

/** The value is not in a fixed set of values, given in the order in which they are printed. */
export function notSupportedField(field: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map((one) => quote(one)).join(", ");
  const detail = supported.length > 0 ? `supported values: ${values}` : "";
  return fieldError("FieldValueNotSupported", field, withDetail(`Unsupported value: ${printValue(value)}`, detail));
}

/** The value has too many bytes. */
export function tooLongField(field: string, maxLength: number): FieldError {
  const unit = maxLength === 1 ? "byte" : "bytes";
  const detail = maxLength >= 0 ? `may not be more than ${maxLength} ${unit}` : "value is too long";
  return fieldError("FieldValueTooLong", field, `Too long: ${detail}`);
}

/** The list has more items than allowed. */
export function tooManyField(field: string, count: number, maxItems: number): FieldError {
  const items = maxItems === 1 ? "item" : "items";
  return fieldError("FieldValueTooMany", field, `Too many: ${count}: must have at most ${maxItems} ${items}`);
}

/** The text has too many characters. */
export function tooManyCharactersField(field: string, maxLength: number): FieldError {
  return fieldError("FieldValueTooLong", field, `Too long: may not be more than ${maxLength} characters`);
}

/** The error as one line: path and message. */
export function printFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

/** The error as a cause of a Status. */
export function causeOf(error: FieldError): StatusCause {
  return { reason: error.type, message: error.message, field: error.field };
}
