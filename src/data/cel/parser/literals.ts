import { Bytes, CelError, Double, intOf, Uint, type Value } from "../values/value.ts";

const MAX_INT64 = (1n << 63n) - 1n;
const MAX_UINT64 = (1n << 64n) - 1n;

/** The int of a token such as 12 or 0x1F, with its sign. */
export function parseInteger(text: string, negative: boolean): Value {
  const magnitude = integer(text);
  if (magnitude === undefined || magnitude > MAX_INT64 + (negative ? 1n : 0n)) return INVALID_INT;
  return intOf(negative ? -magnitude : magnitude);
}

/** The uint of a token such as 12u. */
export function parseUnsigned(text: string): Value {
  const magnitude = integer(text.slice(0, -1));
  return magnitude === undefined || magnitude > MAX_UINT64 ? INVALID_UINT : new Uint(magnitude);
}

/** The double of a token, with its sign. */
export function parseFloating(text: string, negative: boolean): Value {
  const value = Number(text);
  return Number.isFinite(value) ? new Double(negative ? -value : value) : INVALID_DOUBLE;
}

const INVALID_INT = new CelError("invalid int literal");
const INVALID_UINT = new CelError("invalid uint literal");
const INVALID_DOUBLE = new CelError("invalid double literal");

/** Parses an integer. Undefined for more than 20 digits, which cannot fit. */
function integer(text: string): bigint | undefined {
  const isHex = text.startsWith("0x");
  const digits = (isHex ? text.slice(2) : text).replace(/^0+/, "");
  if (digits.length > 20) return undefined;
  return digits === "" ? 0n : BigInt(isHex ? `0x${digits}` : digits);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["`", "`"],
  ["?", "?"],
]);

const FAILED = new CelError("unable to unescape string");
const NO_CODE_POINT = new CelError("invalid unicode code point");

/** The text of a string token, without quotes and escapes, or an error. */
export function parseString(token: string): Value {
  const body = bodyOf(token);
  if (body.isRaw || !body.text.includes("\\")) return body.text;
  let result = "";
  for (let i = 0; i < body.text.length; ) {
    const unit = escapeAt(body.text, i);
    if (unit === undefined) return FAILED;
    if (typeof unit.value === "string") result += unit.value;
    else if (!isCodePoint(unit.value)) return NO_CODE_POINT;
    else result += String.fromCodePoint(unit.value);
    i = unit.end;
  }
  return result;
}

/** The bytes of a token with the prefix b, or an error. Numeric escapes are single bytes. */
export function parseBytes(token: string): Value {
  const body = bodyOf(token.slice(1));
  if (body.isRaw || !body.text.includes("\\")) return new Bytes(new TextEncoder().encode(body.text));
  const parts: number[] = [];
  const encoder = new TextEncoder();
  for (let i = 0; i < body.text.length; ) {
    const unit = escapeAt(body.text, i);
    if (unit === undefined || unit.isUnicode) return FAILED;
    if (typeof unit.value === "number") parts.push(unit.value);
    else for (const byte of encoder.encode(unit.value)) parts.push(byte);
    i = unit.end;
  }
  return new Bytes(Uint8Array.from(parts));
}

const isCodePoint = (code: number) => code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);

function bodyOf(token: string): { readonly text: string; readonly isRaw: boolean } {
  const isRaw = token.startsWith("r") || token.startsWith("R");
  const text = isRaw ? token.slice(1) : token;
  const quotes = text.length >= 6 && (text.startsWith('"""') || text.startsWith("'''")) ? 3 : 1;
  // Compat: cel-go's newlineNormalizer converts all line ends to \n.
  return { text: text.slice(quotes, -quotes).replaceAll("\r\n", "\n").replaceAll("\r", "\n"), isRaw };
}

interface Unit {
  /** A literal text, or the code of an escape. */
  readonly value: string | number;
  readonly end: number;
  readonly isUnicode?: boolean;
}

const HEX_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["X", 2],
  ["u", 4],
  ["U", 8],
]);

function escapeAt(text: string, at: number): Unit | undefined {
  if (text[at] !== "\\") {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    return { value: char, end: at + char.length };
  }
  const letter = text[at + 1] ?? "";
  const plain = ESCAPES.get(letter);
  if (plain !== undefined) return { value: plain, end: at + 2 };
  const length = HEX_LENGTHS.get(letter);
  if (length !== undefined) {
    const end = at + 2 + length;
    return { value: Number.parseInt(text.slice(at + 2, end), 16), end, isUnicode: length > 2 };
  }
  return letter >= "0" && letter <= "3"
    ? { value: Number.parseInt(text.slice(at + 1, at + 4), 8), end: at + 4 }
    : undefined;
}
