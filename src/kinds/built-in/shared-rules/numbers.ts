import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { Json } from "../../../base/api/object.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";

/** The message of upstream's `IsNegativeErrorMsg`. */
export const NOT_NEGATIVE = "must be greater than or equal to 0";

/** Rejects a negative number; a missing one is valid. Upstream: `ValidateNonnegativeField`. */
export function nonNegative(value: Json | undefined, path: string): FieldError[] {
  return isNumber(value) && Number(value) < 0 ? [invalidField(path, value, NOT_NEGATIVE)] : [];
}

/** Rejects negative numbers among the named fields of an object. */
export function nonNegativeMembers(
  object: Readonly<Record<string, Json | undefined>>,
  path: string,
  members: readonly string[],
): FieldError[] {
  return members.flatMap((member) => nonNegative(object[member], `${path}.${member}`));
}

/** Rejects a counter that has been decremented; a missing one counts as zero. Upstream: `IsDecremented`. */
export function notDecremented(value: Json | undefined, previous: Json | undefined, path: string): FieldError[] {
  const next = isNumber(value) ? value : 0;
  if (!isNumber(previous) || next >= previous) return [];
  return [invalidField(path, next, "cannot be decremented")];
}
