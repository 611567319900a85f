import type { FieldError } from "../../../base/api/field-error.ts";
import type { Json } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { compileGoRegexp } from "../../../base/go/regexp.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Meter, UNLIMITED } from "../../../base/util/meter.ts";
import type { Schema } from "../schema.ts";
import type { Correlated } from "./correlate.ts";
import { isInEnum } from "./enum.ts";
import {
  Findings,
  fieldErrorsOf,
  forbidden,
  invalid,
  isMembers,
  missing,
  notOneOf,
  tooLong,
  tooMany,
  wrongType,
} from "./findings.ts";
import { formatCheck, isKnownFormat } from "./formats.ts";
import { typeOfValue, type ValueType } from "./kinds-of-values.ts";
import { checkNumber, isJsonInteger } from "./numbers.ts";

/**
 * Validates a value against its schema, with the messages of kube-openapi and in its order. Where Go iterates over a
 * map, the order is that of the members. `root` is the name of the value, if it has one. Upstream:
 * `ValidateCustomResource`.
 */
export function validateBySchema(schema: Schema, value: Json, root = "", meter: Meter = UNLIMITED): FieldError[] {
  const findings = new Findings(meter);
  check(schema, value, "", findings, undefined);
  return fieldErrorsOf(findings, root);
}

/**
 * Validates a default. Compat: `ValidateDefaults` creates its validator without StripUnsupportedFormats, so that a
 * format applies to any type.
 */
export function validateDefault(schema: Schema, value: Json, root: string, meter: Meter = UNLIMITED): FieldError[] {
  const findings = new Findings(meter, true);
  check(schema, value, "", findings, undefined);
  return fieldErrorsOf(findings, root);
}

/**
 * Validates a value that replaces another one. Errors in unchanged parts are not reported. Upstream:
 * `ValidateCustomResourceUpdate` with CRDValidationRatcheting.
 */
export function validateUpdateBySchema(
  correlated: Correlated,
  schema: Schema,
  root = "",
  meter: Meter = UNLIMITED,
): FieldError[] {
  const findings = new Findings(meter);
  checkUnlessSame(schema, correlated, "", findings);
  return fieldErrorsOf(findings, root);
}

/** Upstream: `ratchetingValueValidator.Validate`. */
function checkUnlessSame(schema: Schema, correlated: Correlated, path: string, findings: Findings): void {
  const before = findings.list.length;
  check(schema, correlated.value, path, findings, correlated);
  if (findings.list.length > before && correlated.isEqual) findings.cut(before);
}

/** What it takes to check one value against one schema, in units of the meter. */
const UNITS_PER_CHECK = 10;
/** The same for a member, and for a name in a list of the schema. */
const UNITS_PER_NAME = 0.5;
/** The same for a value of an enum. */
const UNITS_PER_CANDIDATE = 0.5;
/** Reading a text takes about one unit for so many characters. */
const READ_PER_UNIT = 20;

const TYPE_META: ReadonlySet<string> = new Set(["apiVersion", "kind"]);

/** Upstream: `SchemaValidator.Validate`. Every validator that applies counts as a match. */
function check(
  schema: Schema,
  value: Json,
  path: string,
  findings: Findings,
  correlated: Correlated | undefined,
): void {
  findings.meter.charge(UNITS_PER_CHECK);
  const type = typeOfValue(value);
  if (type === "null") {
    checkNull(schema, path, findings);
    return;
  }
  const format = findings.keepsFormats ? (schema.format ?? "") : effectiveFormat(schema);
  if (format !== "" || hasType(schema)) {
    if (checkType(schema, format, value, type, path, findings)) findings.matches += 1;
    findings.matches += 1;
  }
  checkJunctors(schema, value, path, findings);
  findings.matches += 1;
  if (type === "string") {
    checkString(schema, value as string, path, findings);
    findings.matches += 1;
    if (checkFormat(format, value as string, path, findings)) findings.matches += 1;
  } else if (type === "integer" || type === "number") {
    checkNumber(schema, value, path, findings);
    findings.matches += 2;
  } else if (Array.isArray(value)) {
    checkItems(schema, value, path, findings, correlated);
    findings.matches += 2;
  }
  if (schema.enum !== undefined && schema.enum.length > 0) checkEnum(schema.enum, value, path, findings);
  findings.matches += 1;
  if (isMembers(value)) {
    checkMembers(schema, value, path, findings, correlated);
    findings.matches += 1;
  }
  findings.matches += 1;
}

function checkEnum(candidates: readonly Json[], value: Json, path: string, findings: Findings): void {
  findings.meter.charge(candidates.length * UNITS_PER_CANDIDATE);
  if (!isInEnum(value, candidates)) notOneOf(findings, path, value, candidates);
}

function checkNull(schema: Schema, path: string, findings: Findings): void {
  if (hasType(schema) && schema.nullable !== true) wrongType(findings, path, typesOf(schema), "null");
  else findings.matches += 1;
  // Compat: to `basicCommonValidator`, null is never in an enum, not even if the enum contains null.
  if (schema.enum !== undefined && schema.enum.length > 0) notOneOf(findings, path, null, schema.enum);
}

const hasType = ({ type, intOrString }: Schema) => type !== undefined || intOrString === true;

/** Compat: `ConvertJSONSchemaProps` converts int-or-string to two types, which messages show. */
const typesOf = ({ type, intOrString }: Schema): string => (intOrString === true ? "integer,string" : (type ?? ""));

function hasThisType({ type, intOrString }: Schema, wanted: ValueType): boolean {
  return intOrString === true ? wanted === "integer" || wanted === "string" : type === wanted;
}

function effectiveFormat({ format = "", type, intOrString }: Schema): string {
  if (format === "") return "";
  return isKnownFormat(format, intOrString === true ? undefined : type) ? format : "";
}

const FORMAT_OF: Readonly<Partial<Record<ValueType, string>>> = { integer: "int64", number: "float64" };

/** Upstream: `typeValidator.Validate`. */
function checkType(
  schema: Schema,
  format: string,
  value: Json,
  type: ValueType,
  path: string,
  findings: Findings,
): boolean {
  const isText = type === "string" || type === "array";
  const isRight =
    hasThisType(schema, type) ||
    (type === "number" && hasThisType(schema, "integer") && isJsonInteger(Number(value))) ||
    (type === "integer" && hasThisType(schema, "number"));
  const ownFormat = FORMAT_OF[type] ?? "";
  if (!isText && format !== "" && !isRight && ownFormat !== format) {
    wrongType(findings, path, format, ownFormat);
    return false;
  }
  const isNumeric = hasThisType(schema, "number") || hasThisType(schema, "integer");
  // Compat: if a format is given, `typeValidator` accepts even a list as a string.
  if (!isNumeric && format !== "" && isText) return true;
  if (!isRight) wrongType(findings, path, typesOf(schema), type);
  return isRight;
}

/** Upstream: `schemaPropsValidator.Validate`. Values below a junctor are not correlated with the old value. */
function checkJunctors(schema: Schema, value: Json, path: string, findings: Findings): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) checkAny(anyOf, value, path, findings);
  if (oneOf.length > 0) checkOne(oneOf, value, path, findings);
  if (allOf.length > 0) checkAll(allOf, value, path, findings);
  if (not !== undefined && against(not, value, path, findings).isEmpty) {
    findings.add(path, `${quote(path)} must not validate the schema (not)`);
  }
  findings.matches += 1;
}

function against(schema: Schema, value: Json, path: string, { meter, keepsFormats }: Findings): Findings {
  const findings = new Findings(meter, keepsFormats);
  check(schema, value, path, findings, undefined);
  return findings;
}

function checkAny(alternatives: readonly Schema[], value: Json, path: string, findings: Findings): void {
  let best: Findings | undefined;
  for (const alternative of alternatives) {
    const found = against(alternative, value, path, findings);
    if (found.isEmpty) {
      findings.merge(found);
      return;
    }
    if (best === undefined || found.matches > best.matches) best = found;
  }
  findings.add(path, `${quote(path)} must validate at least one schema (anyOf)`);
  if (best) findings.merge(best);
}

function checkOne(alternatives: readonly Schema[], value: Json, path: string, findings: Findings): void {
  let best: Findings | undefined;
  let success: Findings | undefined;
  let valid = 0;
  for (const alternative of alternatives) {
    const found = against(alternative, value, path, findings);
    if (found.isEmpty) {
      valid += 1;
      success ??= found;
    } else if (best === undefined || found.matches > best.matches) {
      best = found;
    }
  }
  if (valid === 1 && success) {
    findings.merge(success);
    return;
  }
  const count = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
  findings.add(path, `${quote(path)} must validate one and only one schema (oneOf). ${count}`);
  if (valid === 0 && best) findings.merge(best);
}

function checkAll(parts: readonly Schema[], value: Json, path: string, findings: Findings): void {
  let valid = 0;
  for (const part of parts) {
    const found = against(part, value, path, findings);
    if (found.isEmpty) valid += 1;
    findings.merge(found);
  }
  if (valid === parts.length) return;
  const none = valid === 0 ? ". None validated" : "";
  findings.add(path, `${quote(path)} must validate all the schemas (allOf)${none}`);
}

/** Upstream: `stringValidator.Validate`, which reports only the first violation. */
function checkString(
  { maxLength, minLength, pattern = "" }: Schema,
  text: string,
  path: string,
  findings: Findings,
): void {
  findings.meter.charge(text.length / READ_PER_UNIT);
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) {
    tooLong(findings, path, maxLength);
  } else if (minLength !== undefined && codePoints(text) < minLength) {
    invalid(findings, path, text, `${path} in body should be at least ${minLength} chars long`);
  } else if (pattern !== "" && !matchesPattern(pattern, text, findings)) {
    invalid(findings, path, text, `${path} in body should match '${pattern}'`);
  }
}

function matchesPattern(pattern: string, text: string, { meter }: Findings): boolean {
  return compileGoRegexp(pattern, meter)?.matches(text) === true;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) count -= 1;
  }
  return count;
}

/** Checks a string format. Returns whether the format applies to strings. */
function checkFormat(format: string, text: string, path: string, findings: Findings): boolean {
  const isValid = format === "" ? undefined : formatCheck(format);
  if (isValid === undefined) return false;
  if (!isValid(text)) wrongType(findings, path, format, text);
  return true;
}

/** Upstream: `schemaSliceValidator.Validate`. */
function checkItems(
  { items, minItems, maxItems }: Schema,
  list: readonly Json[],
  path: string,
  findings: Findings,
  correlated: Correlated | undefined,
): void {
  if (items !== undefined) {
    for (const [index, item] of list.entries()) {
      checkBelow(items, item, `${path}[${index}]`, findings, correlated?.item(index));
    }
  }
  if (minItems !== undefined && list.length < minItems) {
    invalid(findings, path, list.length, `${path} in body should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && list.length > maxItems) tooMany(findings, path, list.length, maxItems, "items");
}

/** Upstream: `objectValidator.Validate`. */
function checkMembers(
  { properties, values, forbidsOthers, required = [], minProperties, maxProperties }: Schema,
  object: { readonly [member: string]: Json },
  path: string,
  findings: Findings,
  correlated: Correlated | undefined,
): void {
  const names = Object.keys(object);
  findings.meter.charge((names.length + (properties?.size ?? 0) + required.length) * UNITS_PER_NAME);
  if (minProperties !== undefined && names.length < minProperties) {
    invalid(findings, path, names.length, `${path} in body should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    tooMany(findings, path, names.length, maxProperties, "properties");
  }
  if (forbidsOthers === true) {
    for (const name of names) if (!properties?.has(name)) forbidden(findings, path, name);
  } else if (values !== undefined && values !== true) {
    for (const name of names) {
      const member = object[name];
      if (member === undefined || properties?.has(name)) continue;
      checkBelow(values, member, `${path}.${name}`, findings, childOf(correlated, path, name));
    }
  }
  for (const [name, property] of properties ?? []) {
    const member = getMember(object, name);
    if (member === undefined) continue;
    checkBelow(property, member, path === "" ? name : `${path}.${name}`, findings, childOf(correlated, path, name));
  }
  for (const name of required) {
    if (getMember(object, name) === undefined) missing(findings, `${path}.${name}`);
  }
}

/**
 * Compat: `SubPropertyValidator` does not correlate apiVersion and kind of the root, because a conversion may have made
 * them equal.
 */
function childOf(correlated: Correlated | undefined, path: string, name: string): Correlated | undefined {
  return path === "" && TYPE_META.has(name) ? undefined : correlated?.member(name);
}

function checkBelow(
  schema: Schema,
  value: Json,
  path: string,
  findings: Findings,
  correlated: Correlated | undefined,
): void {
  if (correlated) checkUnlessSame(schema, correlated, path, findings);
  else check(schema, value, path, findings, undefined);
}
