import { isExactInteger } from "../../../base/util/exact-integer.ts";
import { DecodeError } from "../json/json.ts";
import type { ValueCodec } from "./codec.ts";

/** A string. */
export const STRING: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    if (typeof value === "string") out.string(value);
  },
  read: (input, end) => input.string(end),
  zero: () => "",
  isScalar: true,
};

/** Bytes: base64 in JSON. */
export const BYTES: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    if (typeof value === "string") out.bytes(Buffer.from(value, "base64"));
  },
  read: (input, end) => input.base64(end),
  zero: () => null,
  isNullable: true,
};

/** A 32-bit integer. Negative ones are written as 64-bit integers. */
export const INT32: ValueCodec = {
  wireType: 0,
  write: (out, value) => out.int64(typeof value === "number" ? value | 0 : 0),
  read: (input, end) => input.int32(end),
  zero: () => 0,
  isScalar: true,
};

/** A 64-bit integer, exact. */
export const INT64: ValueCodec = {
  wireType: 0,
  write: (out, value) => {
    if (isExactInteger(value)) out.int64(BigInt(JSON.stringify(value)));
    else out.int64(typeof value === "number" ? Math.trunc(value) || 0 : 0);
  },
  read: (input, end) => input.integer(end),
  zero: () => 0,
  isScalar: true,
};

/** A double. Infinity and NaN are rejected, because JSON cannot represent them. */
export const DOUBLE: ValueCodec = {
  wireType: 1,
  write: (out, value) => out.double(isExactInteger(value) ? Number(JSON.stringify(value)) : Number(value ?? 0)),
  read: (input, end) => {
    const value = input.double(end);
    if (!Number.isFinite(value)) throw new DecodeError(`json: unsupported value: ${value}`);
    return value;
  },
  zero: () => 0,
};

/** A boolean. */
export const BOOL: ValueCodec = {
  wireType: 0,
  write: (out, value) => out.uint32(value === true ? 1 : 0),
  read: (input, end) => input.bool(end),
  zero: () => false,
  isScalar: true,
};
