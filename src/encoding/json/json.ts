import { MAX_VALUES, tooManyValues } from "../../api/body-limits.ts";
import type { Json } from "../../api/object.ts";
import { ExactInteger, WrittenNumber } from "../../lib/exact-integer.ts";
import { countMembers, duplicatesOf, type Measured, measure } from "./json-scan.ts";
import { explainSyntax } from "./json-syntax.ts";

/** A body that cannot be decoded. The message is what the real server's decoder says, without any context. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeError";
  }
}

/** A decoded body. */
export interface DecodedBody {
  readonly value: Json;
  /** The value with a WrittenNumber for every number that is not written as an integer of 64 bits. Absent: it has none. */
  written?(): Json;
  /** Members that stand more than once in one object, of which the last counts; texts as for strict field validation. */
  duplicates(): readonly string[];
}

/**
 * How deep arrays and objects may nest. The real server's decoder allows 10,000; our own recursive code, and V8's
 * JSON.stringify, would run out of stack long before.
 */
export const MAX_DEPTH = 1000;

// What Node 24 has and the compiler's library does not know yet.
interface ExactNumbers {
  parse(text: string, reviver: (key: string, value: Json, context: { source?: string }) => Json): Json;
}
const exactNumbers = JSON as unknown as ExactNumbers;

const INTEGER = /^-?[0-9]+$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Decodes JSON bytes; invalid UTF-8 reads as U+FFFD. Throws DecodeError with the words of Go's decoder.
 *
 * Integers of 64 bits survive: one that a double cannot hold becomes an ExactInteger, which JSON.stringify prints with
 * the same digits (structuredClone would lose it).
 * A member named `__proto__` is an ordinary own property, as JSON.parse makes it: copy objects with spread or
 * Object.entries plus Object.defineProperty, never by assigning `target[key]` for a key of that name.
 */
export function parseJson(bytes: Uint8Array): Json {
  return parseMeasured(bytes, measure(bytes));
}

/** Like `parseJson`, of a body: one with too many values is refused, and its text is kept for finding duplicates. Throws 413. */
export function decodeJson(bytes: Uint8Array): DecodedBody {
  const measured = measure(bytes);
  if (measured.values > MAX_VALUES && measured.depth <= MAX_DEPTH) throw tooManyValues();
  const value = parseMeasured(bytes, measured);
  return {
    value,
    ...(measured.hasOddNumbers && { written: () => exactNumbers.parse(textOf(bytes), keepSource) }),
    // Counting is far cheaper than collecting paths, and almost no body has duplicates.
    duplicates: () => (measured.members === countMembers(value) ? [] : duplicatesOf(textOf(bytes)).map(duplicateText)),
  };
}

const OPEN_BRACE = 0x7b;

/**
 * Whether a body, in JSON or in YAML that looks like it, has far more values than it may have. Deep ones are left to their
 * decoder, which says something else about them.
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
    return hasLongNumbers ? exactNumbers.parse(text, keepDigits) : JSON.parse(text);
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
  return exactInteger(source) ?? (new WrittenNumber(source) as unknown as Json);
}

/**
 * An integer in decimal digits as a JSON value with exactly these digits. Undefined when it is no integer of 64
 * bits: such a number is a double, for the real server too.
 */
export function exactInteger(digits: string): Json | undefined {
  if (!INTEGER.test(digits) || digits.length > 20) return undefined;
  const exact = BigInt(digits);
  if (exact < MIN_INT64 || exact > MAX_INT64) return undefined;
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : (new ExactInteger(exact.toString()) as unknown as Json);
}

/** Compact JSON with a closing line feed, as the real server ends it; or indented by two spaces and without one. */
export function printJson(value: Json, isPretty: boolean): string {
  return isPretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;
}
