import { spend, spendOnText } from "../cost/work.ts";
import { compareText } from "./text.ts";
import {
  Bytes,
  CelError,
  Double,
  Duration,
  Foreign,
  isInt,
  ListValue,
  MapValue,
  NO_SUCH_OVERLOAD,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

/** Whether `==` of two values is true. */
export const equal = (a: Value, b: Value): boolean => equality(a, b) === true;

/**
 * `==` like cel-go's types.Equal: false for values of most different types, an error for some, such as a value of
 * Kubernetes' own types and another type.
 */
export function equality(a: Value, b: Value): boolean | CelError {
  if (a === null || b === null) return a === b;
  return ownEquality(a, b);
}

/** Compares from the perspective of the first value: cel-go's Equal methods. */
export function ownEquality(a: Value, b: Value): boolean | CelError {
  if (typeof a !== "object" || a === null) return a === b || (isInt(a) && isNumber(b) && compareNumbers(a, b) === 0);
  if (a instanceof ListValue) {
    if (b instanceof ListValue && a.size === b.size) spend(a.size);
    return a.equals === undefined ? equalLists(a, b) : a.equals(b);
  }
  if (a instanceof MapValue) {
    if (b instanceof MapValue && a.size === b.size) spend(2 * a.size);
    return a.equals === undefined ? equalMaps(a, b) : a.equals(b);
  }
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof CelError) return a;
  if (a instanceof Foreign) {
    return b instanceof Foreign && a.type.is(b.type) ? a.equals(b) : a.equalsOther(b);
  }
  if (a instanceof Bytes) return b instanceof Bytes && compareBytes(a.data, b.data) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && compareTimes(a, b) === 0;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.of.name === b.of.name;
  return a instanceof Optional && b instanceof Optional && equalOptionals(a, b);
}

function equalOptionals(a: Optional, b: Optional): boolean | CelError {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return ownEquality(a.value, b.value);
}

/** Compat: baseList.Equal and baseMap.Equal treat an error as no difference. */
function equalLists(a: ListValue, b: Value): boolean {
  if (!(b instanceof ListValue) || a.size !== b.size) return false;
  for (let i = 0; i < a.size; i++) if (equality(a.at(i), b.at(i)) === false) return false;
  return true;
}

function equalMaps(a: MapValue, b: Value): boolean {
  if (!(b instanceof MapValue) || a.size !== b.size) return false;
  for (const key of a.keys()) {
    const mine = a.find(key);
    const other = b.find(key);
    if (mine === undefined || other === undefined || equality(mine, other) === false) return false;
  }
  return true;
}

/** `in` a list. Compat: baseList.Contains treats an error as a difference. */
export function contains(list: ListValue, value: Value): boolean | CelError {
  spend(list.size);
  if (list.contains !== undefined) return list.contains(value);
  for (let i = 0; i < list.size; i++) if (ownEquality(value, list.at(i)) === true) return true;
  return false;
}

type Numeric = number | bigint | Double | Uint;

const isNumber = (value: Value): value is Numeric => isInt(value) || value instanceof Double || value instanceof Uint;

/** Compares numbers of any types. NaN is not equal to anything. */
function compareNumbers(a: Numeric, b: Numeric): number {
  let x = a instanceof Double || a instanceof Uint ? a.value : a;
  let y = b instanceof Double || b instanceof Uint ? b.value : b;
  // Compat: cel-go's compareDoubleInt converts the other number to a double. All others compare exactly.
  if (a instanceof Double || b instanceof Double) {
    x = Number(x);
    y = Number(y);
  }
  if (x < y) return -1;
  if (x > y) return 1;
  return x >= y ? 0 : Number.NaN;
}

const NAN_ORDER = new CelError("NaN values cannot be ordered");

/** -1, 0 or 1, or an error if the values cannot be ordered. */
export function compare(a: Value, b: Value): number | CelError {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "string") return typeof b === "string" ? compareText(a, b) : NO_SUCH_OVERLOAD;
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : NO_SUCH_OVERLOAD;
  if (isNumber(a)) {
    if (!isNumber(b)) return NO_SUCH_OVERLOAD;
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? NAN_ORDER : order;
  }
  if (a instanceof Bytes && b instanceof Bytes) return compareBytes(a.data, b.data);
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  if (a instanceof Timestamp && b instanceof Timestamp) return compareTimes(a, b);
  return NO_SUCH_OVERLOAD;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  let length = 0;
  while (length < shorter && a[length] === b[length]) length++;
  spendOnText({ length }, "each");
  return length < shorter ? Math.sign((a[length] as number) - (b[length] as number)) : Math.sign(a.length - b.length);
}

function compareTimes(a: Timestamp, b: Timestamp): number {
  return Math.sign(a.seconds - b.seconds) || Math.sign(a.nanos - b.nanos);
}
