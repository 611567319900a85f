import {
  type FieldError,
  invalidField,
  MAX_ERRORS,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyField,
  typeInvalidField,
} from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";
import { isExactInteger } from "../../lib/exact-integer.ts";
import { printGoFloat } from "../../lib/go/float.ts";
import { quote } from "../../lib/go/quote.ts";
import { printSorted, sorted, typeOfValue } from "./kinds-of-values.ts";

/** One broken rule of a schema. Upstream: an error of kube-openapi's package validation/errors. */
export interface Finding {
  /** Where, as the walk writes it: `spec.ports[0].name`; fields of the root may begin with a dot. */
  readonly path: string;
  /** What kube-openapi says. The same text is told once. */
  readonly text: string;
  /** The error about a field. Absent: the text stands for itself, and is told about the whole value. */
  readonly error?: (field: string) => FieldError;
}

/** What a walk has found, and how many checks passed: the alternative that came furthest is the one to tell of. */
export class Findings {
  readonly list: Finding[] = [];
  /** Upstream: `Result.MatchCount`. */
  matches = 0;
  /** Whether values are held to formats whatever type they are of. */
  readonly keepsFormats: boolean;

  constructor(keepsFormats = false) {
    this.keepsFormats = keepsFormats;
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  add(path: string, text: string, error?: (field: string) => FieldError): void {
    if (this.list.length < MAX_ERRORS) this.list.push({ path, text, error });
  }

  merge(other: Findings): void {
    this.matches += other.matches;
    for (const { path, text, error } of other.list) this.add(path, text, error);
  }

  /** Forgets what was found since the list had this length. */
  cut(length: number): void {
    this.list.length = length;
  }
}

/**
 * The findings as errors about fields below `root`; the root itself is called "<nil>" where there is no other name.
 * Upstream: `kubeOpenAPIResultToFieldErrors`.
 */
export function fieldErrorsOf({ list }: Findings, root = ""): FieldError[] {
  const told = new Set<string>();
  const errors: FieldError[] = [];
  for (const { path, text, error } of list) {
    if (told.has(text)) continue;
    told.add(text);
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

/** A value as an error shows it. Compat: `%v` prints a float64 with an exponent where JSON has none. */
export function shown(value: Json, isFloat = typeOfValue(value) === "number"): unknown {
  if (isFloat) return rawJSON(printGoFloat(Number(value)));
  return typeof value === "object" ? sorted(value) : value;
}

/** `Invalid value: …: ` with the text, which names the place itself. */
export function invalid(findings: Findings, path: string, value: Json, text: string, isFloat?: boolean): void {
  findings.add(path, text, (field) => invalidField(field, shown(value, isFloat), text));
}

/** Upstream: `errors.InvalidType`. `found` is the name of a type or format, or the text that has not the format. */
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

/** Upstream: `errors.PropertyNotAllowed`, which tells of the object and has the name of the member for its value. */
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

/** Whether a value is an object of JSON, and no number that is kept digit by digit. */
export function isMembers(value: Json | undefined): value is { [member: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactInteger(value);
}
