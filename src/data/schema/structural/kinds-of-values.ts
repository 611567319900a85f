import type { Json } from "../../../base/api/object.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";

/** The OpenAPI types of JSON values. */
export type ValueType = "null" | "boolean" | "string" | "integer" | "number" | "array" | "object";

/** The OpenAPI type of a value. Upstream: a 64-bit integer is an int64, every other number a float64. */
export function typeOfValue(value: Json | undefined): ValueType {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "integer" : "number";
    default:
      if (value === null || value === undefined) return "null";
      if (Array.isArray(value)) return "array";
      return isExactInteger(value) ? "integer" : "object";
  }
}

/** Prints JSON like Go: object members sorted by name. */
export function printSorted(value: Json): string {
  return JSON.stringify(sorted(value));
}

/** A copy of the value with all object members sorted by name, like Go encodes a map. */
export function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null || isExactInteger(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name] ?? null)] as const);
  return Object.fromEntries(entries);
}
