import { lengthOf } from "../values/text.ts";
import { Bytes, Foreign, ListValue, MapValue, Optional, type Value } from "../values/value.ts";
import { REGEX_LENGTH, STRING_TRAVERSAL } from "./sizes.ts";

/** The size of a value for cost tracking: cel-go's actualSize. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return lengthOf(value);
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Bytes) return value.data.length;
  if (value instanceof Foreign) return value.size ?? 1;
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1;
}

/** The cost of reading a sized value once. */
export const traversal = (value: Value): number => Math.ceil(sizeOf(value) * STRING_TRAVERSAL);

/** The cost of comparing two values, limited by the shorter one. */
export function comparison(args: readonly Value[]): number {
  const [a, b] = args as [Value, Value];
  if (typeof a === "number" && typeof b === "number") return 1;
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_TRAVERSAL);
}

/** The cost of concatenating two texts. */
export function joining(args: readonly Value[]): number {
  const [a, b] = args as [Value, Value];
  return Math.ceil((sizeOf(a) + sizeOf(b)) * STRING_TRAVERSAL);
}

/** The cost of finding a text within another. */
export function containment(args: readonly Value[]): number {
  const [text, part] = args as [Value, Value];
  return traversal(text) * traversal(part);
}

/** The cost of matching a text against a pattern. */
export function matching(args: readonly Value[]): number {
  const [text, pattern] = args as [Value, Value];
  return Math.ceil((1 + sizeOf(text)) * STRING_TRAVERSAL) * Math.ceil(sizeOf(pattern) * REGEX_LENGTH);
}
