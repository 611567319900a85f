import type { Json } from "../../../base/api/object.ts";
import { printGoFloat } from "../../../base/go/float.ts";
import type { Schema } from "../schema.ts";
import { type Findings, invalid } from "./findings.ts";
import { typeOfValue } from "./kinds-of-values.ts";

const MAX_JSON_INTEGER = 2 ** 53 - 1;
const EPSILON = 1e-9;

/** Upstream: `swag.IsFloat64AJSONInteger`: positive numbers may differ from an integer by a billionth. */
export function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > MAX_JSON_INTEGER) return false;
  if (Number.isInteger(value)) return true;
  const whole = Math.trunc(value);
  if (value < 0 || whole === 0) return false;
  return Math.abs(value - whole) / (value + whole) < EPSILON;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** Converts a float64 to int64 like Go. Values out of range become the minimum. */
function toInt64(value: number): bigint {
  if (!Number.isFinite(value)) return MIN_INT64;
  const whole = BigInt(Math.trunc(value));
  return whole < MIN_INT64 || whole > MAX_INT64 ? MIN_INT64 : whole;
}

interface NumberType {
  readonly type: "" | "integer" | "number";
  readonly format: string;
}

const FORMATS_OF: Readonly<Record<"integer" | "number", readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

function numberType({ type, format = "", intOrString }: Schema): NumberType {
  if (intOrString === true || (type !== "integer" && type !== "number")) return { type: "", format: "" };
  return { type, format: FORMATS_OF[type].includes(format) ? format : "" };
}

/** Upstream: `numberValidator`: range of the type, then multipleOf, minimum and maximum. */
export function checkNumber(schema: Schema, value: Json, path: string, findings: Findings): void {
  const type = numberType(schema);
  checkRange(value, type, "Checked", path, findings);
  const { multipleOf, minimum, maximum } = schema;
  const isWhole = typeOfValue(value) === "integer";
  const asInteger = (limit: Json, what: string) => checkRange(limit, type, what, path, findings) && isWhole;
  if (multipleOf !== undefined) {
    checkMultiple(value, Number(multipleOf), asInteger(multipleOf, "MultipleOf"), path, findings);
  }
  if (minimum !== undefined) {
    checkMinimum(schema, value, asInteger(minimum, "Minimum boundary"), path, findings);
  }
  if (maximum !== undefined) {
    checkMaximum(schema, value, asInteger(maximum, "Maximum boundary"), path, findings);
  }
}

/** Upstream: `IsValueValidAgainstRange`. */
function checkRange(
  value: Json,
  { type, format }: NumberType,
  what: string,
  path: string,
  findings: Findings,
): boolean {
  if (isInRange(value, type, format)) return true;
  const form = format === "" ? "(default format)" : `with format ${format}`;
  findings.add(path, `${what} value must be of type ${type} ${form} in ${path}`);
  return false;
}

const MAX_FLOAT32 = 3.4028235677973366e38;

function isInRange(value: Json, type: string, format: string): boolean {
  if (type === "integer") {
    const number = Number(value);
    if (typeOfValue(value) !== "integer") return Number.isInteger(number) && Math.abs(number) < 2 ** 63;
    return format !== "int32" || (number >= -(2 ** 31) && number < 2 ** 31);
  }
  return format !== "float" || Math.abs(Number(value)) < MAX_FLOAT32;
}

function checkMultiple(value: Json, factor: number, isWhole: boolean, path: string, findings: Findings): void {
  if (isWhole) {
    const divisor = toInt64(factor);
    if (divisor <= 0n) notPositive(divisor.toString(), path, findings);
    else if (BigInt(String(value)) % divisor !== 0n) {
      invalid(findings, path, value, `${path} in body should be a multiple of ${divisor}`);
    }
    return;
  }
  const number = Number(value);
  if (factor <= 0) notPositive(printGoFloat(factor), path, findings);
  else if (!isJsonInteger(factor < 1 ? (1 / factor) * number : number / factor)) {
    invalid(findings, path, value, `${path} in body should be a multiple of ${printGoFloat(factor)}`, true);
  }
}

function notPositive(factor: string, path: string, findings: Findings): void {
  invalid(findings, path, Number(factor), `factor MultipleOf declared for ${path} must be positive: ${factor}`);
}

function checkMaximum(schema: Schema, value: Json, isWhole: boolean, path: string, findings: Findings): void {
  const { maximum = 0, exclusiveMaximum = false } = schema;
  const limit = isWhole ? toInt64(Number(maximum)) : Number(maximum);
  const number = isWhole ? BigInt(String(value)) : Number(value);
  if (exclusiveMaximum ? number < limit : number <= limit) return;
  const rule = exclusiveMaximum ? "less than" : "less than or equal to";
  invalid(findings, path, value, `${path} in body should be ${rule} ${printLimit(limit)}`, !isWhole);
}

function checkMinimum(schema: Schema, value: Json, isWhole: boolean, path: string, findings: Findings): void {
  const { minimum = 0, exclusiveMinimum = false } = schema;
  const limit = isWhole ? toInt64(Number(minimum)) : Number(minimum);
  const number = isWhole ? BigInt(String(value)) : Number(value);
  if (exclusiveMinimum ? number > limit : number >= limit) return;
  const rule = exclusiveMinimum ? "greater than" : "greater than or equal to";
  invalid(findings, path, value, `${path} in body should be ${rule} ${printLimit(limit)}`, !isWhole);
}

function printLimit(limit: number | bigint): string {
  return typeof limit === "bigint" ? limit.toString() : printGoFloat(limit);
}
