import { type FieldError, invalidField } from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";
import { isNumber } from "../../lib/exact-integer.ts";

/** The message of upstream's `IsNegativeErrorMsg`. */
export const NOT_NEGATIVE = "must be greater than or equal to 0";

/** Refuses a negative number; a missing one is fine. Upstream: `ValidateNonnegativeField`. */
export function nonNegative(value: Json | undefined, path: string): FieldError[] {
  return isNumber(value) && value < 0 ? [invalidField(path, value, NOT_NEGATIVE)] : [];
}

/** Refuses negative numbers among the named members of an object. */
export function nonNegativeMembers(
  object: Readonly<Record<string, Json | undefined>>,
  path: string,
  members: readonly string[],
): FieldError[] {
  return members.flatMap((member) => nonNegative(object[member], `${path}.${member}`));
}

/** Refuses a counter that has been decremented; a missing one counts as zero. Upstream: `IsDecremented`. */
export function notDecremented(value: Json | undefined, previous: Json | undefined, path: string): FieldError[] {
  const next = isNumber(value) ? value : 0;
  if (!isNumber(previous) || next >= previous) return [];
  return [invalidField(path, next, "cannot be decremented")];
}
