import type { FieldError } from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";
import { quote } from "../../lib/go/quote.ts";
import { compileGoRegexp } from "../../lib/go/regexp.ts";
import { getMember } from "../../lib/members.ts";
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
 * What is wrong with a value by the rules of its schema, in the words of kube-openapi and in the order in which it looks;
 * where Go goes through a map, the order is that of the members. `root` is the name of the value, if it has one.
 * Upstream: `ValidateCustomResource`.
 */
export function validateBySchema(schema: Schema, value: Json, root = ""): FieldError[] {
  const findings = new Findings();
  check(schema, value, "", findings, undefined);
  return fieldErrorsOf(findings, root);
}

/**
 * What is wrong with a default. Compat: `ValidateDefaults` makes its validator without StripUnsupportedFormats, so that a
 * format counts beside any type.
 */
export function validateDefault(schema: Schema, value: Json, root: string): FieldError[] {
  const findings = new Findings(true);
  check(schema, value, "", findings, undefined);
  return fieldErrorsOf(findings, root);
}

/**
 * The same for a value that replaces another one: what is wrong with parts that did not change is not told.
 * Upstream: `ValidateCustomResourceUpdate` with CRDValidationRatcheting.
 */
export function validateUpdateBySchema(correlated: Correlated, schema: Schema, root = ""): FieldError[] {
  const findings = new Findings();
  checkUnlessSame(schema, correlated, "", findings);
  return fieldErrorsOf(findings, root);
}

/** Upstream: `ratchetingValueValidator.Validate`. */
function checkUnlessSame(schema: Schema, correlated: Correlated, path: string, findings: Findings): void {
  const before = findings.list.length;
  check(schema, correlated.value, path, findings, correlated);
  if (findings.list.length > before && correlated.isEqual) findings.cut(before);
}

const TYPE_META: ReadonlySet<string> = new Set(["apiVersion", "kind"]);

/** Upstream: `SchemaValidator.Validate`. Every validator that applies counts as a match of its own. */
function check(
  schema: Schema,
  value: Json,
  path: string,
  findings: Findings,
  correlated: Correlated | undefined,
): void {
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
  if (schema.enum !== undefined && schema.enum.length > 0 && !isInEnum(value, schema.enum)) {
    notOneOf(findings, path, value, schema.enum);
  }
  findings.matches += 1;
  if (isMembers(value)) {
    checkMembers(schema, value, path, findings, correlated);
    findings.matches += 1;
  }
  findings.matches += 1;
}

function checkNull(schema: Schema, path: string, findings: Findings): void {
  if (hasType(schema) && schema.nullable !== true) wrongType(findings, path, typesOf(schema), "null");
  else findings.matches += 1;
  // Compat: to `basicCommonValidator` no null is one of an enum, not even where the enum has a null.
  if (schema.enum !== undefined && schema.enum.length > 0) notOneOf(findings, path, null, schema.enum);
}

const hasType = ({ type, intOrString }: Schema) => type !== undefined || intOrString === true;

/** Compat: to `ConvertJSONSchemaProps` int-or-string has two types to kube-openapi, as messages show them. */
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
  // Compat: where a format is given, `typeValidator` lets even a list pass for a string.
  if (!isNumeric && format !== "" && isText) return true;
  if (!isRight) wrongType(findings, path, typesOf(schema), type);
  return isRight;
}

/** Upstream: `schemaPropsValidator.Validate`. Nothing below a junctor is compared with the value before. */
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

function against(schema: Schema, value: Json, path: string, { keepsFormats }: Findings): Findings {
  const findings = new Findings(keepsFormats);
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

/** Upstream: `stringValidator.Validate`, which tells of the first broken rule. */
function checkString(
  { maxLength, minLength, pattern = "" }: Schema,
  text: string,
  path: string,
  findings: Findings,
): void {
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) {
    tooLong(findings, path, maxLength);
  } else if (minLength !== undefined && codePoints(text) < minLength) {
    invalid(findings, path, text, `${path} in body should be at least ${minLength} chars long`);
  } else if (pattern !== "" && compileGoRegexp(pattern)?.matches(text) !== true) {
    invalid(findings, path, text, `${path} in body should match '${pattern}'`);
  }
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) count -= 1;
  }
  return count;
}

/** Whether the format is one of strings. */
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

/** Compat: `SubPropertyValidator` compares no apiVersion and kind of the root: a conversion may have made them equal. */
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
