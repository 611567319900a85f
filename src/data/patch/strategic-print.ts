import { isObject, type Json } from "../../base/api/object.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";

/** Prints JSON like Go's %v: `map[a:1 b:[x y] c:<nil>]`, members sorted by name. */
export function printGoValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printGoValue).join(" ")}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort(byCodePoint);
  return `map[${members.map((member) => `${member}:${printGoValue(value[member])}`).join(" ")}]`;
}

/** The Go type that a JSON value decodes to without a schema. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "string") return "string";
  return isExactInteger(value) ? "int64" : "map[string]interface {}";
}

/** Prints a value like Go's %s, which only fits text. */
export function printGoText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return `[${value.map(printGoText).join(" ")}]`;
  if (!isObject(value)) return `%!s(${goTypeOf(value)}=${printGoValue(value)})`;
  const members = Object.keys(value).sort(byCodePoint);
  return `map[${members.map((member) => `${member}:${printGoText(value[member])}`).join(" ")}]`;
}

/** Compares texts by code points, like Go. */
export function byCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** UTF-16 sorts surrogates before the last part of the basic plane; UTF-8 bytes do not. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
