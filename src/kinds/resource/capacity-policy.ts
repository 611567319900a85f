import { type FieldError, forbiddenField, invalidField, requiredField, tooManyField } from "../../api/field-error.ts";
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  subtractQuantities,
} from "../../api/quantity.ts";
import { isWhole } from "../rules/resource-names.ts";
import type { DeviceCapacity, RequestPolicy } from "./types.ts";

const MAX_VALUES = 10;
const MAX_INTEGER = 2n ** 63n - 1n;
const ZERO = parseQuantity("0");

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
    const key = decimalOf(parseQuantity(value));
    if (seen.has(key)) {
      errors.push({ type: "FieldValueDuplicate", field: `${path}[${index}]`, message: `Duplicate value: "${key}"` });
    }
    seen.add(key);
  }
  if (!values.some((value) => compare(value, standard) === 0)) {
    errors.push(invalidField(path, standard, "default value is not valid according to the requestPolicy"));
  }
  return errors;
}

/** An amount as a plain decimal number. */
function decimalOf({ mantissa, exponent }: Quantity): string {
  if (exponent >= 0) return String(mantissa * 10n ** BigInt(exponent));
  const digits = String(mantissa < 0n ? -mantissa : mantissa).padStart(1 - exponent, "0");
  return `${mantissa < 0n ? "-" : ""}${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

/** The amount in thousandths; undefined when it is no whole number of them. */
function thousandths(quantity: Quantity): bigint | undefined {
  const milli = { ...quantity, exponent: quantity.exponent + 3 };
  if (!isWhole(milli)) return undefined;
  const { mantissa, exponent } = milli;
  return exponent >= 0 ? mantissa * 10n ** BigInt(exponent) : mantissa / 10n ** BigInt(-exponent);
}

function stepErrors(value: string, min: string, step: string, path: string): FieldError[] {
  const distance = thousandths(subtractQuantities(parseQuantity(value), parseQuantity(min)));
  const unit = thousandths(parseQuantity(step));
  if (distance === undefined || unit === undefined || distance % unit === 0n) return [];
  return [invalidField(path, value, `value is not a multiple of a given step (${step}) from (${min})`)];
}

/** What keeps amounts from being counted: those with parts must be in thousandths, others must fit an integer. */
function uncountableErrors(amounts: readonly (readonly [string, string])[], hasParts: boolean, path: string) {
  return amounts.flatMap(([name, text]) => {
    const quantity = parseQuantity(text);
    const say = (detail: string) => [invalidField(`${path}.${name}`, text, detail)];
    if (hasParts) return thousandths(quantity) === undefined ? say("value cannot be represented as a milli value") : [];
    if (quantity.mantissa < 0n) return say("must be greater than or equal to 0");
    const isLarge = compareQuantities(quantity, { ...ZERO, mantissa: MAX_INTEGER }) > 0;
    return isLarge ? say(`must not be larger than ${MAX_INTEGER}`) : [];
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
  const amounts = Object.entries({ default: standard, min, max, step }).flatMap(([name, text]) =>
    text === undefined ? [] : ([[name, text]] as const),
  );
  const hasParts = amounts.some(([, text]) => !isWhole(parseQuantity(text)));
  const uncountable = uncountableErrors(amounts, hasParts, path);
  if (hasParts && uncountable.length > 0) return [...errors, ...uncountable];
  if (step === undefined) return errors;
  if (compare(step, "0") <= 0) {
    return [...errors, invalidField(`${path}.step`, step, "must be greater than zero")];
  }
  const first = addQuantities(parseQuantity(min), parseQuantity(step));
  const isOver = compareQuantities(first, parseQuantity(most)) > 0;
  check(isOver, "step", step, `one step ${printQuantity(first)} is larger than capacity value: ${most}`);
  if (uncountable.length > 0) return [...errors, ...uncountable];
  const inSteps = max === undefined ? [standard] : [standard, max];
  return [...errors, ...inSteps.flatMap((value) => stepErrors(value, min, step, `${path}.step`))];
}

/** What is wrong with how a device's capacity may be asked for; only devices that are shared have such rules. */
export function capacityErrors({ value = "0", requestPolicy }: DeviceCapacity, path: string, isShared: boolean) {
  if (!requestPolicy) return [];
  const at = `${path}.requestPolicy`;
  if (!isShared) return [forbiddenField(at, "allowMultipleAllocations must be true")];
  const { default: standard, validValues = [], validRange } = requestPolicy;
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
