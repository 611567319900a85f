import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidField } from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";

/** The message about an immutable field. */
export const IMMUTABLE = "field is immutable";

/**
 * Refuses a changed value, like upstream's `ValidateImmutableField`. `print` gives the value as the message shows it,
 * where that is not the value itself.
 */
export function immutable(
  next: Json | undefined,
  previous: Json | undefined,
  path: string,
  print: (value: Json | undefined) => unknown = (value) => value,
): FieldError[] {
  return sameValue(next, previous) ? [] : [invalidField(path, print(next), IMMUTABLE)];
}

/** Compat: equality in the sense of `apiequality.Semantic.DeepEqual`, for which an empty list or map is nil. */
export function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  return isDeepStrictEqual(withoutEmpty(left), withoutEmpty(right));
}

function withoutEmpty(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item) ?? null);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const kept = Object.entries(value).flatMap(([member, inner]) => {
    const rest = withoutEmpty(inner);
    return rest === undefined ? [] : [[member, rest] as const];
  });
  return Object.fromEntries(kept);
}
