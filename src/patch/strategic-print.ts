import { isObject, type Json } from "../api/object.ts";
import { isExactInteger } from "../lib/exact-integer.ts";

/** A JSON value as Go prints it with %v: `map[a:1 b:[x y] c:<nil>]`, members in order of their names. */
export function printGoValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printGoValue).join(" ")}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort(byCodePoint);
  return `map[${members.map((member) => `${member}:${printGoValue(value[member])}`).join(" ")}]`;
}

/** The type that Go's decoder gives a JSON value when nothing else is asked for. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "string") return "string";
  return isExactInteger(value) ? "int64" : "map[string]interface {}";
}

/** A value as Go prints it with %s, which only fits text. */
export function printGoText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return `[${value.map(printGoText).join(" ")}]`;
  if (!isObject(value)) return `%!s(${goTypeOf(value)}=${printGoValue(value)})`;
  const members = Object.keys(value).sort(byCodePoint);
  return `map[${members.map((member) => `${member}:${printGoText(value[member])}`).join(" ")}]`;
}

/** Orders texts by their characters, as Go does. */
export function byCodePoint(left: string, right: string): number {
  if (left === right) return 0;
  // UTF-16 puts surrogates before the last part of the basic plane; comparing bytes does not.
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
