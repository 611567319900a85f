import { lengthOf } from "../values/text.ts";
import { Bytes, Foreign, ListValue, MapValue, Optional, type Value } from "../values/value.ts";
import { REGEX_LENGTH, STRING_TRAVERSAL } from "./sizes.ts";

/** The size of a value as costs count it: cel-go's actualSize. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return lengthOf(value);
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Bytes) return value.data.length;
  if (value instanceof Foreign) return value.size ?? 1;
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1;
}

/** Reading a text, or anything with a size, once. */
export const traversal = (value: Value): number => Math.ceil(sizeOf(value) * STRING_TRAVERSAL);

/** Comparing two values: as far as the shorter of them goes. */
export function comparison(args: readonly Value[]): number {
  const [a, b] = args as [Value, Value];
  if (typeof a === "number" && typeof b === "number") return 1;
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_TRAVERSAL);
}

/** Joining two texts. */
export function joining(args: readonly Value[]): number {
  const [a, b] = args as [Value, Value];
  return Math.ceil((sizeOf(a) + sizeOf(b)) * STRING_TRAVERSAL);
}

/** Finding a text within another. */
export function containment(args: readonly Value[]): number {
  const [text, part] = args as [Value, Value];
  return traversal(text) * traversal(part);
}

/** Matching a text against a pattern. */
export function matching(args: readonly Value[]): number {
  const [text, pattern] = args as [Value, Value];
  return Math.ceil((1 + sizeOf(text)) * STRING_TRAVERSAL) * Math.ceil(sizeOf(pattern) * REGEX_LENGTH);
}
