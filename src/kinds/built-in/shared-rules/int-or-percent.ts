import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { regexMessage } from "../../../base/api/names.ts";
import type { Json } from "../../../base/api/object.ts";
import { nonNegative } from "./numbers.ts";

const PERCENT_PATTERN = "[0-9]+%";
const PERCENT = new RegExp(`^${PERCENT_PATTERN}$`);
const PERCENT_RULE = "a valid percent string must be a numeric string followed by an ending '%'";

/** Validates an IntOrString that may be a percentage such as "25%". */
export function validateIntOrPercent(value: Json | undefined, path: string): FieldError[] {
  if (typeof value !== "string") return nonNegative(value, path);
  if (PERCENT.test(value)) return [];
  return [invalidField(path, value, regexMessage(PERCENT_RULE, PERCENT_PATTERN, "1%", "93%"))];
}

/** Rejects a percentage above 100%. Numbers are not limited. */
export function atMostAll(value: Json | undefined, path: string): FieldError[] {
  if (typeof value !== "string" || !PERCENT.test(value) || Number.parseInt(value, 10) <= 100) return [];
  return [invalidField(path, value, "must not be greater than 100%")];
}

/** The number of an IntOrString, or of its percentage; 0 for what is neither. */
export function intOrPercentValue(value: Json | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return 0;
  return /^([+-]?[0-9]+|[0-9]+%)$/.test(value) ? Number.parseInt(value, 10) : 0;
}
