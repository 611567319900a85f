import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { canonicalQuantity, QuantityError } from "../../base/api/quantity.ts";
import { ExactInteger, isExactInteger, isNumber, WrittenNumber } from "../../base/util/exact-integer.ts";
import { setMember } from "../../base/util/members.ts";
import { Base64Error, canonicalBase64 } from "./decode-base64.ts";
import { DecodeFailure, type DecodeState, goKindOf, wordFor } from "./decode-state.ts";
import { canonicalMicroTime, canonicalTime, TimeError } from "./decode-time.ts";

/** Decodes values of one type. */
export interface Decoder {
  /**
   * Returns the value as Go would encode it after typed decoding. Errors are recorded in the state. Never called with
   * null.
   */
  decode(value: Json, state: DecodeState): Json;
  /** The encoding of the zero value. */
  zero(): Json;
  /** Whether a decoded value is zero, so that it is not written if zero and omitted are the same. */
  isZero(value: Json): boolean;
}

/** Decodes strings. */
export function stringDecoder(goType: string): Decoder {
  return {
    decode(value, state) {
      if (typeof value === "string") return value;
      if (!state.isUnstructured) state.wrongType(wordFor(value), goType);
      else if (goKindOf(value) === "int64") throw new DecodeFailure(`cannot convert int64 to ${goType}`);
      else throw new DecodeFailure("unrecognized type: string");
      return "";
    },
    zero: () => "",
    isZero: (value) => value === "",
  };
}

/** Decodes booleans. */
export function booleanDecoder(goType: string): Decoder {
  return {
    decode(value, state) {
      if (typeof value === "boolean") return value;
      if (state.isUnstructured) throw new DecodeFailure("unrecognized type: bool");
      state.wrongType(wordFor(value), goType);
      return false;
    },
    zero: () => false,
    isZero: (value) => value === false,
  };
}

/** Decodes 32-bit or 64-bit integers. 64-bit integers keep all digits. */
export function integerDecoder(goType: string, bits: 32 | 64): Decoder {
  const isInRange = (value: number) => (bits === 32 ? (value | 0) === value : Math.abs(value) < 2 ** 63);
  return {
    decode(value, state) {
      // Adding zero turns -0 into 0.
      if (typeof value === "number" && Number.isInteger(value) && isInRange(value)) return value + 0;
      if (bits === 64 && isExactInteger(value) && !(value instanceof WrittenNumber)) return value;
      if (state.isUnstructured) return convertedInteger(value, goType, bits);
      state.wrongType(isNumber(value) ? `number ${JSON.stringify(value)}` : wordFor(value), goType);
      return 0;
    },
    zero: () => 0,
    isZero: (value) => value === 0,
  };
}

const MIN_INT64 = -(2n ** 63n);

/**
 * Compat: `DefaultUnstructuredConverter.FromUnstructured`, which decodes the result of a strategic merge, truncates
 * integers to their size without an error. Numbers beyond int64 are float64 by then, which amd64 converts to the
 * minimum int64.
 */
function convertedInteger(value: Json, goType: string, bits: 32 | 64): Json {
  const kind = goKindOf(value);
  if (kind !== "int64" && kind !== "float64") throw new DecodeFailure(`unrecognized type: int${bits}`);
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw new DecodeFailure(`cannot convert float64 to ${goType}`);
  }
  const whole = kind === "float64" ? MIN_INT64 : BigInt(typeof value === "number" ? value : JSON.stringify(value));
  const cut = BigInt.asIntN(bits, whole);
  const number = Number(cut);
  return Number.isSafeInteger(number) ? number : new ExactInteger(cut.toString());
}

/** Decodes floating-point numbers. */
export function floatDecoder(goType: string): Decoder {
  return {
    decode(value, state) {
      if (typeof value === "number") return value;
      if (isExactInteger(value)) return Number(JSON.stringify(value));
      if (state.isUnstructured) throw new DecodeFailure("unrecognized type: float64");
      state.wrongType(wordFor(value), goType);
      return 0;
    },
    zero: () => 0,
    isZero: (value) => value === 0,
  };
}

/** Decodes bytes, which are base64 in JSON. */
export function bytesDecoder(goType: string): Decoder {
  return {
    decode(value, state) {
      if (typeof value === "string") return base64(value, state);
      if (Array.isArray(value)) return bytesOf(value, state);
      if (state.isUnstructured) throw new DecodeFailure(`cannot restore slice from ${goKindOf(value)}`);
      state.wrongType(wordFor(value), goType);
      return "";
    },
    // Not null, although an omitted []byte is: in a map, storing it makes it an empty text.
    zero: () => "",
    isZero: (value) => value === "",
  };
}

function base64(text: string, state: DecodeState): string {
  try {
    return canonicalBase64(text);
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    if (state.isUnstructured) throw new DecodeFailure(`error decoding from json: ${error.message}`);
    state.error ??= error.message;
    return "";
  }
}

/** Compat: Go's encoding/json also accepts a list of numbers for `[]byte`. */
function bytesOf(list: readonly Json[], state: DecodeState): string {
  const bytes = list.map((item) => {
    if (typeof item === "number" && Number.isInteger(item) && item >= 0 && item <= 255) return item;
    if (item !== null) state.wrongType(isNumber(item) ? `number ${JSON.stringify(item)}` : wordFor(item), "uint8");
    return 0;
  });
  return Buffer.from(bytes).toString("base64");
}

/** Go's zero time. */
const ZERO_TIME = "0001-01-01T00:00:00";

function timeDecoder(canonical: (text: string) => string): Decoder {
  return {
    decode(value, state) {
      if (typeof value !== "string") throw new DecodeFailure(state.typeText(wordFor(value), "string"));
      try {
        const time = canonical(value);
        return time.startsWith(ZERO_TIME) ? null : time;
      } catch (error) {
        throw error instanceof TimeError ? new DecodeFailure(error.message) : error;
      }
    },
    zero: () => null,
    isZero: (value) => value === null,
  };
}

const quantityDecoder: Decoder = {
  decode(value) {
    try {
      return canonicalQuantity(typeof value === "string" ? value.trim() : JSON.stringify(value));
    } catch (error) {
      throw error instanceof QuantityError ? new DecodeFailure(error.message) : error;
    }
  },
  zero: () => "0",
  // An explicit zero quantity is not the same as an omitted one.
  isZero: () => false,
};

const intOrStringDecoder: Decoder = {
  decode(value, state) {
    if (typeof value === "string") return value;
    if (typeof value === "number" && (value | 0) === value) return value + 0;
    throw new DecodeFailure(
      state.typeText(isNumber(value) ? `number ${JSON.stringify(value)}` : wordFor(value), "int32"),
    );
  },
  zero: () => 0,
  isZero: () => false,
};

/** Converts WrittenNumbers back to plain numbers. */
const rawDecoder: Decoder = {
  decode: (value, state) => (state.hasWrittenNumbers ? withPlainNumbers(value) : value),
  zero: () => null,
  isZero: (value) => value === null,
};

function withPlainNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (value instanceof WrittenNumber) return Number(value.digits);
  if (!isObject(value)) return value;
  const plain: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) setMember(plain, name, withPlainNumbers(member));
  }
  return plain;
}

/** Decoders of types with a special wire format. */
export const wireDecoders: ReadonlyMap<string, Decoder> = new Map([
  ["quantity", quantityDecoder],
  ["int-or-string", intOrStringDecoder],
  ["time", timeDecoder(canonicalTime)],
  ["micro-time", timeDecoder(canonicalMicroTime)],
  ["raw-json", rawDecoder],
]);

/** Accepts any JSON unchanged. */
export const anyDecoder: Decoder = rawDecoder;
