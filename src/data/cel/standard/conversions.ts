import { printGoFloat } from "../../../base/go/float.ts";
import { parseBool } from "../../../base/go/parse-bool.ts";
import { traversal } from "../cost/runtime.ts";
import { spend, spendOnText } from "../cost/work.ts";
import { checkedInt, checkedUint } from "../values/arithmetic.ts";
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp, timestampOfSeconds } from "../values/time.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  paramType,
  stringType,
  type Type,
  timestampType,
  typeOf,
  uintType,
} from "../values/types.ts";
import {
  Bytes,
  CelError,
  Double,
  type Duration,
  intOf,
  type Timestamp,
  TypeValue,
  typeOfValue,
  Uint,
  type Value,
} from "../values/value.ts";
import type { FunctionDeclaration, Implementation, Overload, RuntimeCost } from "./library.ts";

const A = paramType("A");

function conversion(id: string, from: Type, to: Type, call: Implementation, cost?: RuntimeCost): Overload {
  return { id, args: [from], result: to, call, ...(cost && { cost }) };
}

const identity = (value: Value) => value;

/** The error of a failed conversion. */
const failed = (from: Type, to: Type) => new CelError(`type conversion error from '${from.name}' to '${to.name}'`);

const stringToBool = (text: string): Value => parseBool(text) ?? failed(stringType, boolType);

const DECIMAL = /^[+-]?\d{1,40}$/;

function stringToInt(text: string): Value {
  if (!DECIMAL.test(text)) return failed(stringType, intType);
  const value = checkedInt(BigInt(text.replace("+", "")));
  return value instanceof CelError ? failed(stringType, intType) : value;
}

function stringToUint(text: string): Value {
  if (!/^\d{1,40}$/.test(text)) return failed(stringType, uintType);
  const value = checkedUint(BigInt(text));
  return value instanceof CelError ? failed(stringType, uintType) : value;
}

const FLOAT = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,6})?$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
  ["+infinity", Number.POSITIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
  ["nan", Number.NaN],
]);

function stringToDouble(text: string): Value {
  const special = text.length < 10 ? SPECIAL.get(text.toLowerCase()) : undefined;
  if (special !== undefined) return new Double(special);
  const plain = text.replace(/(?<=[0-9])_(?=[0-9])/g, "");
  const hexadecimal = plain.length < 100 ? HEX_FLOAT.exec(plain) : null;
  if (hexadecimal === null && !FLOAT.test(plain)) return failed(stringType, doubleType);
  const value = hexadecimal === null ? Number(plain) : fromHexadecimal(hexadecimal);
  return Number.isFinite(value) ? new Double(value) : failed(stringType, doubleType);
}

const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d{1,6})$/;

function fromHexadecimal([, sign, whole = "", fraction = "", power = "0"]: RegExpExecArray): number {
  const digits = whole + fraction;
  const value = digits === "" ? Number.NaN : Number(`0x${digits}`) * 2 ** (Number(power) - 4 * fraction.length);
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign === "-" ? -value : value;
}

function stringToDuration(text: string): Value {
  // Messages escape every byte.
  spend(text.length);
  return parseDuration(text) ?? failed(stringType, durationType);
}

function stringToTimestamp(text: string): Value {
  spendOnText(text, "each");
  return parseTimestamp(text) ?? failed(stringType, timestampType);
}

const INT_OVERFLOW = new CelError("integer overflow");
const UINT_OVERFLOW = new CelError("unsigned integer overflow");

function doubleToInt({ value }: Double): Value {
  // Compat: cel-go's doubleToInt64Checked excludes both bounds, which a double cannot distinguish from the next int.
  return value > -(2 ** 63) && value < 2 ** 63 ? intOf(BigInt(Math.trunc(value))) : INT_OVERFLOW;
}

function doubleToUint({ value }: Double): Value {
  return value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : UINT_OVERFLOW;
}

function bytesToString({ data }: Bytes): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const ofFirst: RuntimeCost = ([value]) => traversal(value as Value);

/** The conversion functions, which are named like types. */
export const conversionFunctions: readonly FunctionDeclaration[] = [
  {
    name: "type",
    overloads: [{ id: "type", args: [A], result: typeOf(A) }],
    call: (value: Value) => new TypeValue(typeOfValue(value)),
  },
  { name: "dyn", overloads: [{ id: "to_dyn", args: [A], result: dynType }], call: identity },
  {
    name: "bool",
    overloads: [
      conversion("bool_to_bool", boolType, boolType, identity),
      conversion("string_to_bool", stringType, boolType, stringToBool),
    ],
  },
  {
    name: "bytes",
    overloads: [
      conversion("bytes_to_bytes", bytesType, bytesType, identity),
      conversion(
        "string_to_bytes",
        stringType,
        bytesType,
        (text: string) => new Bytes(new TextEncoder().encode(text)),
        ofFirst,
      ),
    ],
  },
  {
    name: "double",
    overloads: [
      conversion("double_to_double", doubleType, doubleType, identity),
      conversion("int64_to_double", intType, doubleType, (value: number | bigint) => new Double(Number(value))),
      conversion("string_to_double", stringType, doubleType, stringToDouble),
      conversion("uint64_to_double", uintType, doubleType, ({ value }: Uint) => new Double(Number(value))),
    ],
  },
  {
    name: "duration",
    overloads: [
      conversion("duration_to_duration", durationType, durationType, identity),
      conversion("string_to_duration", stringType, durationType, stringToDuration),
    ],
  },
  {
    name: "int",
    overloads: [
      conversion("int64_to_int64", intType, intType, identity),
      conversion("double_to_int64", doubleType, intType, doubleToInt),
      conversion("duration_to_int64", durationType, intType, ({ nanos }: Duration) => intOf(nanos)),
      conversion("string_to_int64", stringType, intType, stringToInt),
      conversion("timestamp_to_int64", timestampType, intType, ({ seconds }: Timestamp) => seconds),
      conversion("uint64_to_int64", uintType, intType, ({ value }: Uint) => checkedInt(value)),
    ],
  },
  {
    name: "string",
    overloads: [
      conversion("string_to_string", stringType, stringType, identity),
      conversion("bool_to_string", boolType, stringType, String),
      conversion("bytes_to_string", bytesType, stringType, bytesToString, ofFirst),
      conversion("double_to_string", doubleType, stringType, ({ value }: Double) => printGoFloat(value)),
      conversion("duration_to_string", durationType, stringType, formatDuration),
      conversion("int64_to_string", intType, stringType, String),
      conversion("timestamp_to_string", timestampType, stringType, formatTimestamp),
      conversion("uint64_to_string", uintType, stringType, ({ value }: Uint) => String(value)),
    ],
  },
  {
    name: "timestamp",
    overloads: [
      conversion("timestamp_to_timestamp", timestampType, timestampType, identity),
      conversion("int64_to_timestamp", intType, timestampType, timestampOfSeconds),
      conversion("string_to_timestamp", stringType, timestampType, stringToTimestamp),
    ],
  },
  {
    name: "uint",
    overloads: [
      conversion("uint64_to_uint64", uintType, uintType, identity),
      conversion("double_to_uint64", doubleType, uintType, doubleToUint),
      conversion("int64_to_uint64", intType, uintType, (value: number | bigint) => checkedUint(BigInt(value))),
      conversion("string_to_uint64", stringType, uintType, stringToUint),
    ],
  },
];
