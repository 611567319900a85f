import { isObject, type Json } from "../../../base/api/object.ts";
import { MemberPath } from "./member-path.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

/** Properties of a JSON text that a single scan finds without parsing. Meaningful only if the text is valid. */
export interface Measured {
  /** The total number of members of all objects. */
  readonly members: number;
  /**
   * The number of members and items, where objects and lists count twice: the number of commas and opening brackets.
   */
  readonly values: number;
  /** The nesting depth. */
  readonly depth: number;
  /** Whether a number may not fit a double: many digits, or an exponent. */
  readonly hasLongNumbers: boolean;
  /** Whether a number may not be written as a 64-bit integer: many digits, a fraction or an exponent. */
  readonly hasOddNumbers: boolean;
}

/** Number of digits that always fit a double. */
const SAFE_DIGITS = 15;

/** Scans a JSON text. */
export function measure(bytes: Uint8Array): Measured {
  let members = 0;
  let values = 0;
  let depth = 0;
  let open = 0;
  let hasLongNumbers = false;
  let hasFractions = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      for (at++; bytes[at] !== QUOTE && at < bytes.length; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === COLON) members++;
    else if (byte === COMMA) values++;
    else if (byte >= ZERO && byte <= NINE) {
      const start = at;
      while ((bytes[at + 1] as number) >= ZERO && (bytes[at + 1] as number) <= NINE) at++;
      const next = bytes[at + 1];
      if (at - start >= SAFE_DIGITS || next === LOWER_E || next === UPPER_E) hasLongNumbers = true;
      else if (next === DOT) hasFractions = true;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      values++;
      if (++open > depth) depth = open;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
  }
  return { members, values, depth, hasLongNumbers, hasOddNumbers: hasLongNumbers || hasFractions };
}

/** The total number of members of all objects in a decoded value. */
export function countMembers(value: Json | undefined): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countMembers(item);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      count++;
      const member = value[key];
      if (typeof member === "object") count += countMembers(member);
    }
  }
  return count;
}

// Compat: sigs.k8s.io/json collects at most 100 strict errors (`savedStrictErrors`).
const MAX_DUPLICATES = 100;
/** Maximum total length of the paths. The path that exceeds it is still reported. */
const MAX_PRINTED = 1024 * 1024;

/** Paths of duplicate members in the order of the text, each once. The text must be valid JSON. */
export function duplicatesOf(text: string): string[] {
  const found = new Set<MemberPath>();
  let at = 0;
  const skipSpace = (): void => {
    for (let code = text.charCodeAt(at); code === 0x20 || (code >= 0x09 && code <= 0x0d); ) {
      code = text.charCodeAt(++at);
    }
  };
  const readString = (): string => {
    const start = at;
    for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
      let before = end - 1;
      while (text[before] === "\\") before--;
      // A quote after an odd number of backslashes is escaped.
      if ((end - before) % 2 === 0) continue;
      at = end + 1;
      return JSON.parse(text.slice(start, at));
    }
  };
  const readMembers = (path: MemberPath): void => {
    const seen = new Set<string>();
    for (skipSpace(); text[at] !== "}"; skipSpace()) {
      if (text[at] === ",") at++;
      skipSpace();
      const key = readString();
      const memberPath = path.below(key);
      if (seen.has(key) && found.size < MAX_DUPLICATES) found.add(memberPath.known());
      seen.add(key);
      skipSpace();
      at++;
      readValue(memberPath);
    }
    at++;
  };
  const readItems = (path: MemberPath): void => {
    let index = 0;
    for (skipSpace(); text[at] !== "]"; skipSpace()) {
      if (text[at] === ",") at++;
      readValue(path.below(index++));
    }
    at++;
  };
  const readValue = (path: MemberPath): void => {
    skipSpace();
    if (text[at] === '"') readString();
    else if (text[at] === "{") {
      at++;
      readMembers(path);
    } else if (text[at] === "[") {
      at++;
      readItems(path);
    } else while (at < text.length && !",]} \t\r\n".includes(text.charAt(at))) at++;
  };
  readValue(new MemberPath());
  const printed = new Set<string>();
  let characters = 0;
  for (const path of found) {
    if (characters > MAX_PRINTED) break;
    const text = path.print();
    characters += text.length;
    printed.add(text);
  }
  return [...printed];
}
