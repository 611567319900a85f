import { INLINE_LIMITS, MAX_VALUES, tooManyValues } from "../../../base/api/body-limits.ts";
import type { Json } from "../../../base/api/object.ts";
import { ExactInteger, WrittenNumber } from "../../../base/util/exact-integer.ts";
import { currentMeter } from "../../../base/util/meter.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { countMembers, duplicatesOf, type Measured, measure } from "./json-scan.ts";
import { explainSyntax } from "./json-syntax.ts";

/** A body cannot be decoded. The message is that of kube-apiserver's decoder, without context. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeError";
  }
}

/** A decoded body. */
export interface DecodedBody {
  readonly value: Json;
  /**
   * The value with a WrittenNumber for every number that is not written as a 64-bit integer. Omitted if there are none.
   */
  written?(): Json;
  /** Messages about duplicate members, as for strict field validation. The last one takes effect. */
  duplicates(): readonly string[];
}

/**
 * Maximum nesting depth. Differs: kube-apiserver's decoder allows 10,000. Our recursive code and V8's JSON.stringify
 * would overflow the stack long before.
 */
export const MAX_DEPTH = 1000;

const INTEGER = /^-?[0-9]+$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Decodes JSON bytes. Invalid UTF-8 becomes U+FFFD. Throws DecodeError with the message of Go's decoder.
 *
 * 64-bit integers keep their value: one that does not fit a double becomes an ExactInteger, which JSON.stringify prints
 * with the same digits (structuredClone would lose it).
 * A member named `__proto__` is an ordinary own property, like JSON.parse makes it. Copy objects with spread or
 * Object.entries plus Object.defineProperty, never by assigning `target[key]` for a key of that name.
 */
export function parseJson(bytes: Uint8Array): Json {
  return parseMeasured(bytes, measure(bytes));
}

/**
 * Decodes a request body like `parseJson`. Keeps the text to find duplicates. Throws 413 if there are too many values.
 */
export function decodeJson(bytes: Uint8Array): DecodedBody {
  const measured = measure(bytes);
  if (measured.values > MAX_VALUES && measured.depth <= MAX_DEPTH) throw tooManyValues();
  const value = parseMeasured(bytes, measured);
  return {
    value,
    ...(measured.hasOddNumbers && { written: () => parseJsonText(textOf(bytes), keepSource) }),
    // Counting members is far cheaper than collecting paths, and almost no body has duplicates.
    duplicates: () => (measured.members === countMembers(value) ? [] : duplicatesOf(textOf(bytes)).map(duplicateText)),
  };
}

/** Units of the meter for decoding a byte, and a value: up to 1.6 µs if numbers have many digits. */
const UNITS_PER_BYTE = 1 / 4;
const UNITS_PER_VALUE = 16;

/**
 * Decodes JSON from another server like `parseJson`. Throws DecodeError if it has more values than `maxValues`, because it
 * could block the event loop, and TooCostly if the meter of the request has too little left.
 */
export function parseForeignJson(bytes: Uint8Array, maxValues: number = INLINE_LIMITS.maxValues): Json {
  const meter = currentMeter();
  meter.charge(bytes.length * UNITS_PER_BYTE);
  const measured = measure(bytes);
  meter.charge(measured.values * UNITS_PER_VALUE);
  if (measured.values > maxValues) throw new DecodeError(`limit is ${maxValues} values`);
  return parseMeasured(bytes, measured);
}

/** How many values valid JSON has: members and items, where an object or a list counts twice. */
export const countValues = (bytes: Uint8Array): number => measure(bytes).values;

const OPEN_BRACE = 0x7b;

/**
 * Whether a body, in JSON or in YAML that begins like JSON, has far too many values. Deeply nested bodies are left to
 * the decoder, which reports another error.
 */
export function hasFarTooManyValues(bytes: Uint8Array): boolean {
  if (bytes[0] !== OPEN_BRACE || bytes.length < 2 * MAX_VALUES) return false;
  const { values, depth } = measure(bytes);
  return values > 2 * MAX_VALUES && depth <= MAX_DEPTH;
}

function duplicateText(path: string): string {
  return `duplicate field "${path}"`;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function parseMeasured(bytes: Uint8Array, { depth, hasLongNumbers }: Measured): Json {
  if (depth > MAX_DEPTH) throw new DecodeError(explainSyntax(bytes, MAX_DEPTH));
  const text = textOf(bytes);
  try {
    return hasLongNumbers ? parseJsonText(text, keepDigits) : parseJsonText(text);
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    throw new DecodeError(explainSyntax(bytes, MAX_DEPTH));
  }
}

function keepDigits(_key: string, value: Json, context: { source?: string }): Json {
  const { source } = context;
  if (typeof value !== "number" || source === undefined || Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value)) {
    throw new DecodeError(`json: cannot unmarshal number ${source} into Go value of type float64`);
  }
  return exactInteger(source) ?? value;
}

function keepSource(_key: string, value: Json, { source = "" }: { source?: string }): Json {
  if (typeof value !== "number") return value;
  return exactInteger(source) ?? new WrittenNumber(source);
}

/**
 * A decimal integer as a JSON value with the same digits. Undefined if it is not a 64-bit integer; kube-apiserver
 * treats such a number as a double, too.
 */
export function exactInteger(digits: string): Json | undefined {
  if (!INTEGER.test(digits) || digits.length > 20) return undefined;
  const exact = BigInt(digits);
  if (exact < MIN_INT64 || exact > MAX_INT64) return undefined;
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : new ExactInteger(exact.toString());
}

/** Compact JSON with a trailing line feed like kube-apiserver, or indented by two spaces without one. */
export function printJson(value: Json, isPretty: boolean): string {
  return isPretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;
}
