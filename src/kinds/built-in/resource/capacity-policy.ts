import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { addQuantities, compareQuantities, parseQuantity, printQuantity } from "../../../base/api/quantity.ts";
import { NOT_NEGATIVE } from "../shared-rules/numbers.ts";
import { wholeValue } from "../shared-rules/resource-names.ts";
import type { DeviceCapacity, RequestPolicy } from "./types.ts";

const MAX_VALUES = 10;
const MAX_INTEGER = 2n ** 63n - 1n;

const compare = (left: string, right: string) => compareQuantities(parseQuantity(left), parseQuantity(right));

function valueErrors(values: readonly string[], standard: string, most: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before !== undefined && compare(before, value) > 0) {
      errors.push(invalidField(`${path}[${index}]`, value, "values must be sorted in ascending order"));
    }
  }
  if (values.length > MAX_VALUES) {
    errors.push(tooManyField(path, values.length, MAX_VALUES));
    errors.push(invalidField(path, standard, "default value is not valid according to the requestPolicy"));
    return errors;
  }
  for (const [index, value] of values.entries()) {
    if (compare(value, most) <= 0) continue;
    errors.push(invalidField(`${path}[${index}]`, value, `option is larger than capacity value: ${most}`));
  }
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    const key = String(wholeOf(value));
    if (seen.has(key)) errors.push(duplicateField(`${path}[${index}]`, key));
    seen.add(key);
  }
  if (!values.some((value) => compare(value, standard) === 0)) {
    errors.push(invalidField(path, standard, "default value is not valid according to the requestPolicy"));
  }
  return errors;
}

/**
 * Compat: `validateRequestPolicyRangeStep` uses `Quantity.Value()`, rounded up to integers, unless the feature gate
 * DRAFractionalCapacityRange is on.
 */
const wholeOf = (text: string) => wholeValue(parseQuantity(text));

function stepErrors(value: string, min: string, step: string, path: string): FieldError[] {
  if ((wholeOf(value) - wholeOf(min)) % wholeOf(step) === 0n) return [];
  return [invalidField(path, value, `value is not a multiple of a given step (${step}) from (${min})`)];
}

/** Rejects quantities of `validRange` that do not fit an int64, so that steps cannot be counted. */
function uncountableErrors(amounts: Readonly<Record<string, string | undefined>>, path: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, text]) => {
    if (text === undefined) return [];
    if (parseQuantity(text).mantissa < 0n) return [invalidField(`${path}.${name}`, text, NOT_NEGATIVE)];
    const isLarge = wholeOf(text) > MAX_INTEGER;
    return isLarge ? [invalidField(`${path}.${name}`, text, `must not be larger than ${MAX_INTEGER}`)] : [];
  });
}

function rangeErrors(
  { min, max, step }: NonNullable<RequestPolicy["validRange"]>,
  standard: string,
  most: string,
  path: string,
): FieldError[] {
  if (min === undefined) return [requiredField(`${path}.min`, "required when validRange is defined")];
  const errors: FieldError[] = [];
  const check = (isWrong: boolean, member: string, value: string, text: string) => {
    if (isWrong) errors.push(invalidField(`${path}.${member}`, value, text));
  };
  check(compare(min, most) > 0, "min", min, `min is larger than capacity value: ${most}`);
  check(compare(standard, min) < 0, "default", standard, `default is less than min: ${min}`);
  if (max !== undefined) {
    check(compare(min, max) > 0, "max", min, `min is larger than max: ${max}`);
    check(compare(max, most) > 0, "max", max, `max is larger than capacity value: ${most}`);
    check(compare(standard, max) > 0, "default", standard, `default is more than max: ${max}`);
  }
  if (step === undefined) return errors;
  if (compare(step, "0") <= 0) {
    return [...errors, invalidField(`${path}.step`, step, "must be greater than zero")];
  }
  const first = addQuantities(parseQuantity(min), parseQuantity(step));
  const isOver = compareQuantities(first, parseQuantity(most)) > 0;
  check(isOver, "step", step, `one step ${printQuantity(first)} is larger than capacity value: ${most}`);
  const uncountable = uncountableErrors({ default: standard, min, max, step }, path);
  if (uncountable.length > 0) return [...errors, ...uncountable];
  const inSteps = max === undefined ? [standard] : [standard, max];
  return [...errors, ...inSteps.flatMap((value) => stepErrors(value, min, step, `${path}.step`))];
}

/** Validates DeviceCapacity: only a device with `allowMultipleAllocations` may have a `requestPolicy`. */
export function capacityErrors({ value = "0", requestPolicy }: DeviceCapacity, path: string, isShared: boolean) {
  if (!requestPolicy) return [];
  const at = `${path}.requestPolicy`;
  if (!isShared) return [forbiddenField(at, "allowMultipleAllocations must be true")];
  const { validValues = [], validRange } = requestPolicy;
  const standard = requestPolicy.default ?? undefined;
  if (validValues.length > 0 && validRange) {
    const text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbiddenField(at, text)];
  }
  const missing = (member: string) => [requiredField(`${at}.default`, `required when ${member} is defined`)];
  if (validValues.length > 0) {
    return standard === undefined
      ? missing("validValues")
      : valueErrors(validValues, standard, value, `${at}.validValues`);
  }
  if (!validRange) return [];
  return standard === undefined ? missing("validRange") : rangeErrors(validRange, standard, value, `${at}.validRange`);
}
