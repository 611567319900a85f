import {
  type FieldError,
  invalidField,
  MAX_ERRORS,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyField,
  typeInvalidField,
} from "../../../base/api/field-error.ts";
import type { Json } from "../../../base/api/object.ts";
import { printGoFloat } from "../../../base/go/float.ts";
import { quote } from "../../../base/go/quote.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";
import type { Meter } from "../../../base/util/meter.ts";
import { printSorted, sorted, typeOfValue } from "./kinds-of-values.ts";

/** One violation of a schema. Upstream: an error of kube-openapi's package validation/errors. */
export interface Finding {
  /** The path, such as `spec.ports[0].name`. Fields of the root may begin with a dot. */
  readonly path: string;
  /** The message of kube-openapi. Equal messages are reported once. */
  readonly text: string;
  /** The field error. Optional. If omitted, the text is reported for the whole value. */
  readonly error?: (field: string) => FieldError;
}

/** Writing a message takes about one unit of the meter for so many characters. */
const WRITTEN_PER_UNIT = 20;

/**
 * The violations, and the number of passed checks: of several failed alternatives, the one with most passed checks is
 * reported.
 */
export class Findings {
  readonly list: Finding[] = [];
  /** Upstream: `Result.MatchCount`. */
  matches = 0;
  /** Whether formats apply to values of any type. */
  readonly keepsFormats: boolean;
  /** Charged for every value and schema that are compared. */
  readonly meter: Meter;

  constructor(meter: Meter, keepsFormats = false) {
    this.meter = meter;
    this.keepsFormats = keepsFormats;
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  add(path: string, text: string, error?: (field: string) => FieldError): void {
    this.meter.charge(1 + text.length / WRITTEN_PER_UNIT);
    if (this.list.length < MAX_ERRORS) this.list.push({ path, text, error });
  }

  merge(other: Findings): void {
    this.matches += other.matches;
    for (const { path, text, error } of other.list) this.add(path, text, error);
  }

  /** Drops the findings after this length. */
  cut(length: number): void {
    this.list.length = length;
  }
}

/**
 * Converts the findings to field errors below `root`. The root itself is "<nil>" if it has no name. Upstream:
 * `kubeOpenAPIResultToFieldErrors`.
 */
export function fieldErrorsOf({ list }: Findings, root = ""): FieldError[] {
  const reported = new Set<string>();
  const errors: FieldError[] = [];
  for (const { path, text, error } of list) {
    if (reported.has(text)) continue;
    reported.add(text);
    errors.push(error ? error(fieldAt(path, root)) : invalidField(root || "<nil>", "", text));
  }
  return errors;
}

function fieldAt(path: string, root: string): string {
  const name = path.startsWith(".") ? path.slice(1) : path;
  if (name === "") return root || "<nil>";
  return root === "" ? name : `${root}.${name}`;
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** A value as shown in errors. Compat: `%v` prints a float64 with an exponent where JSON does not. */
export function shown(value: Json, isFloat = typeOfValue(value) === "number"): unknown {
  if (isFloat) return rawJSON(printGoFloat(Number(value)));
  return typeof value === "object" ? sorted(value) : value;
}

/** Adds `Invalid value: …: ` with the text, which contains the path itself. */
export function invalid(findings: Findings, path: string, value: Json, text: string, isFloat?: boolean): void {
  findings.add(path, text, (field) => invalidField(field, shown(value, isFloat), text));
}

/**
 * Upstream: `errors.InvalidType`. `found` is the name of a type or format, or the text that does not have the format.
 */
export function wrongType(findings: Findings, path: string, type: string, found: string): void {
  const text = `${path} in body must be of type ${type}: ${quote(found)}`;
  findings.add(path, text, (field) => typeInvalidField(field, found, text));
}

/** Upstream: `errors.EnumFail`. */
export function notOneOf(findings: Findings, path: string, value: Json, values: readonly Json[]): void {
  const texts = values.map((one) => (typeof one === "string" ? one : printSorted(one)));
  const text = `${path} in body should be one of [${texts.join(" ")}]`;
  findings.add(path, text, (field) => notSupportedField(field, shown(value), texts));
}

/** Upstream: `errors.Required`. */
export function missing(findings: Findings, path: string): void {
  findings.add(path, `${path} in body is required`, (field) => requiredField(field));
}

/** Upstream: `errors.PropertyNotAllowed`, which reports the object and uses the member name as value. */
export function forbidden(findings: Findings, path: string, name: string): void {
  invalid(findings, path, name, `${path}.${name} in body is a forbidden property`);
}

/** Upstream: `errors.TooLong`. */
export function tooLong(findings: Findings, path: string, max: number): void {
  findings.add(path, `${path} in body should be at most ${max} chars long`, (field) => tooLongField(field, max));
}

/** Upstream: `errors.TooManyItems` and `errors.TooManyProperties`. */
export function tooMany(findings: Findings, path: string, count: number, max: number, noun: string): void {
  findings.add(path, `${path} in body should have at most ${max} ${noun}`, (field) => tooManyField(field, count, max));
}

/** Whether a value is a JSON object and not an exact integer. */
export function isMembers(value: Json | undefined): value is { [member: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactInteger(value);
}
