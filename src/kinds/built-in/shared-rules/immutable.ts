import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";

/** The message about an immutable field. */
export const IMMUTABLE = "field is immutable";

/**
 * Rejects a changed value, like upstream's `ValidateImmutableField`. `print` returns the value to show in the message.
 * Default: the value itself.
 */
export function immutable(
  next: Json | undefined,
  previous: Json | undefined,
  path: string,
  print: (value: Json | undefined) => unknown = (value) => value,
): FieldError[] {
  return sameValue(next, previous) ? [] : [invalidField(path, print(next), IMMUTABLE)];
}

/** Compat: equality like `apiequality.Semantic.DeepEqual`, where an empty list equals nil. Makes no copies. */
export function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => sameValue(item, right[index]))
    );
  }
  if (!isObject(left) || !isObject(right)) return Object.is(left, right);
  for (const name of Object.keys(left)) if (!sameValue(left[name], getMember(right, name))) return false;
  return Object.keys(right).every((name) => Object.hasOwn(left, name) || isNothing(right[name]));
}

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
