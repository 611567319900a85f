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

/** `==`, which is false for values of types that cannot be compared. Neither is an error. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" && typeof b !== "object" && !(isInt(a) && isInt(b))) return false;
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object" || a.box !== b.box) return false;
  if (a instanceof ListValue) return equalLists(a, b as ListValue);
  if (a instanceof MapValue) return equalMaps(a, b as MapValue);
  if (a instanceof Bytes) return compareBytes(a.data, (b as Bytes).data) === 0;
  if (a instanceof Duration) return a.nanos === (b as Duration).nanos;
  if (a instanceof Timestamp) return compareTimes(a, b as Timestamp) === 0;
  if (a instanceof TypeValue) return a.of.name === (b as TypeValue).of.name;
  if (a instanceof Foreign) return a.type.is((b as Foreign).type) && a.equals(b as Foreign);
  if (a instanceof Optional) return equalOptionals(a, b as Optional);
  return false;
}

function equalOptionals(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

function equalLists(a: ListValue, b: ListValue): boolean {
  if (a.equals !== undefined) return a.equals(b);
  if (b.equals !== undefined) return b.equals(a);
  if (a.size !== b.size) return false;
  for (let i = 0; i < a.size; i++) if (!equal(a.at(i), b.at(i))) return false;
  return true;
}

function equalMaps(a: MapValue, b: MapValue): boolean {
  if (a.equals !== undefined) return a.equals(b);
  if (b.equals !== undefined) return b.equals(a);
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const mine = a.find(key);
    const other = b.find(key);
    if (mine === undefined || other === undefined || !equal(mine, other)) return false;
  }
  return true;
}

type Numeric = number | bigint | Double | Uint;

const isNumber = (value: Value): value is Numeric => isInt(value) || value instanceof Double || value instanceof Uint;

/** Compares numbers of any types; NaN is equal to nothing. */
function compareNumbers(a: Numeric, b: Numeric): number {
  let x = a instanceof Double || a instanceof Uint ? a.value : a;
  let y = b instanceof Double || b instanceof Uint ? b.value : b;
  // Compat: cel-go's compareDoubleInt makes the other number a double; all others compare exactly.
  if (a instanceof Double || b instanceof Double) {
    x = Number(x);
    y = Number(y);
  }
  if (x < y) return -1;
  if (x > y) return 1;
  return x >= y ? 0 : Number.NaN;
}

const NAN_ORDER = new CelError("NaN values cannot be ordered");

/** -1, 0 or 1, or the error of values that have no order. */
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
  for (let i = 0; i < shorter; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

function compareTimes(a: Timestamp, b: Timestamp): number {
  return Math.sign(a.seconds - b.seconds) || Math.sign(a.nanos - b.nanos);
}
