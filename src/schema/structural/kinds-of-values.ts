import type { Json } from "../../api/object.ts";
import { isExactInteger } from "../../lib/exact-integer.ts";

/** The types that a value of JSON can have, in the words of OpenAPI. */
export type ValueType = "null" | "boolean" | "string" | "integer" | "number" | "array" | "object";

/** The type of a value. Upstream: an integer of 64 bits is an int64, every other number a float64. */
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

/** A value as Go prints it as JSON: the members of objects in the order of their names. */
export function printSorted(value: Json): string {
  return JSON.stringify(sorted(value));
}

/** The same value with the members of all objects in the order of their names, as Go writes a map. */
export function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null || isExactInteger(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name] ?? null)] as const);
  return Object.fromEntries(entries);
}
