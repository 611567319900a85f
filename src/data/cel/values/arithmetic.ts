import { concatLists } from "./lists.ts";
import { durationOf, nanosOf, timestampOf } from "./time.ts";
import {
  Bytes,
  CelError,
  Double,
  Duration,
  intOf,
  isInt,
  ListValue,
  NO_SUCH_OVERLOAD,
  Timestamp,
  Uint,
  type Value,
} from "./value.ts";

const MAX_INT64 = (1n << 63n) - 1n;
const MIN_INT64 = -(1n << 63n);
const MAX_UINT64 = (1n << 64n) - 1n;

const INT_OVERFLOW = new CelError("integer overflow");
const UINT_OVERFLOW = new CelError("unsigned integer overflow");
const DIVISION_BY_ZERO = new CelError("division by zero");
const MODULUS_BY_ZERO = new CelError("modulus by zero");

/** The int, or an error if it exceeds 64 bits. */
export function checkedInt(value: bigint): Value {
  return value > MAX_INT64 || value < MIN_INT64 ? INT_OVERFLOW : intOf(value);
}

/** The uint, or an error if it exceeds 64 bits. */
export function checkedUint(value: bigint): Value {
  return value > MAX_UINT64 || value < 0n ? UINT_OVERFLOW : new Uint(value);
}

/** `a + b`. */
export function add(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    return Number.isSafeInteger(sum) ? sum : checkedInt(BigInt(a) + BigInt(b));
  }
  if (typeof a === "string") return typeof b === "string" ? a + b : NO_SUCH_OVERLOAD;
  if (a instanceof ListValue) return b instanceof ListValue ? concatLists(a, b) : NO_SUCH_OVERLOAD;
  if (isInt(a)) return isInt(b) ? checkedInt(BigInt(a) + BigInt(b)) : NO_SUCH_OVERLOAD;
  if (a instanceof Double && b instanceof Double) return new Double(a.value + b.value);
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value + b.value);
  if (a instanceof Bytes && b instanceof Bytes) return concatBytes(a, b);
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos + b.nanos);
  if (a instanceof Duration && b instanceof Timestamp) return timestampOf(a.nanos + nanosOf(b), b.offset);
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(nanosOf(a) + b.nanos, a.offset);
  return NO_SUCH_OVERLOAD;
}

function concatBytes(a: Bytes, b: Bytes): Bytes {
  const data = new Uint8Array(a.data.length + b.data.length);
  data.set(a.data);
  data.set(b.data, a.data.length);
  return new Bytes(data);
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    return Number.isSafeInteger(difference) ? difference : checkedInt(BigInt(a) - BigInt(b));
  }
  if (isInt(a)) return isInt(b) ? checkedInt(BigInt(a) - BigInt(b)) : NO_SUCH_OVERLOAD;
  if (a instanceof Double && b instanceof Double) return new Double(a.value - b.value);
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value - b.value);
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos - b.nanos);
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(nanosOf(a) - b.nanos, a.offset);
  if (a instanceof Timestamp && b instanceof Timestamp) return between(a, b);
  return NO_SUCH_OVERLOAD;
}

function between(a: Timestamp, b: Timestamp): Value {
  const duration = durationOf(nanosOf(a) - nanosOf(b));
  // Compat: cel-go's subtractTimeChecked multiplies seconds as ints.
  return duration instanceof CelError ? INT_OVERFLOW : duration;
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    // For ints, the product of a negative number and 0 is 0, not -0.
    return Number.isSafeInteger(product) ? product + 0 : checkedInt(BigInt(a) * BigInt(b));
  }
  if (isInt(a)) return isInt(b) ? checkedInt(BigInt(a) * BigInt(b)) : NO_SUCH_OVERLOAD;
  if (a instanceof Double && b instanceof Double) return new Double(a.value * b.value);
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value * b.value);
  return NO_SUCH_OVERLOAD;
}

/** `a / b`, which rounds ints towards zero. */
export function divide(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return NO_SUCH_OVERLOAD;
    return b === 0 ? DIVISION_BY_ZERO : checkedInt(BigInt(a) / BigInt(b));
  }
  if (a instanceof Double && b instanceof Double) return new Double(a.value / b.value);
  if (a instanceof Uint && b instanceof Uint) {
    return b.value === 0n ? DIVISION_BY_ZERO : new Uint(a.value / b.value);
  }
  return NO_SUCH_OVERLOAD;
}

/** `a % b`, with the sign of a. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return NO_SUCH_OVERLOAD;
    if (b === 0) return MODULUS_BY_ZERO;
    if (typeof a === "number" && typeof b === "number") return (a % b) + 0;
    // Compat: cel-go's moduloInt64Checked rejects the minimum int modulo -1, because Go's division overflows.
    return BigInt(a) === MIN_INT64 && b === -1 ? INT_OVERFLOW : intOf(BigInt(a) % BigInt(b));
  }
  if (a instanceof Uint && b instanceof Uint) {
    return b.value === 0n ? MODULUS_BY_ZERO : new Uint(a.value % b.value);
  }
  return NO_SUCH_OVERLOAD;
}

/** `-a`. */
export function negate(a: Value): Value {
  if (typeof a === "number") return 0 - a;
  if (typeof a === "bigint") return checkedInt(-a);
  if (a instanceof Double) return new Double(-a.value);
  if (a instanceof Duration) return durationOf(-a.nanos);
  return NO_SUCH_OVERLOAD;
}
