import { isObject, type Json } from "../api/object.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** How many members all objects of a valid JSON text have together, and how deep it nests. */
export function measure(bytes: Uint8Array): { members: number; depth: number } {
  let members = 0;
  let depth = 0;
  let open = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; bytes[at] !== QUOTE && at < bytes.length; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === COLON) members++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++open > depth) depth = open;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
  }
  return { members, depth };
}

/** How many members all objects of a decoded value have together. */
export function countMembers(value: Json | undefined): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countMembers(item);
  } else if (isObject(value) && !isRaw(value)) {
    for (const key of Object.keys(value)) {
      count++;
      const member = value[key];
      if (typeof member === "object") count += countMembers(member);
    }
  }
  return count;
}

function isRaw(value: object): boolean {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

// Compat: the real server stops collecting strict errors here.
const MAX_DUPLICATES = 100;

/** Paths of members that repeat one of the same object, in the order of the text, each once. The text must be valid JSON. */
export function duplicatesOf(text: string): string[] {
  const found = new Set<string>();
  let at = 0;
  const skipSpace = (): void => {
    while (" \t\r\n".includes(text.charAt(at)) && at < text.length) at++;
  };
  const readString = (): string => {
    const start = at++;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at++;
    return JSON.parse(text.slice(start, at));
  };
  const readMembers = (path: string): void => {
    const seen = new Set<string>();
    for (skipSpace(); text[at] !== "}"; skipSpace()) {
      if (text[at] === ",") at++;
      skipSpace();
      const key = readString();
      const memberPath = path === "" ? key : `${path}.${key}`;
      if (seen.has(key) && found.size < MAX_DUPLICATES) found.add(memberPath);
      seen.add(key);
      skipSpace();
      at++;
      readValue(memberPath);
    }
    at++;
  };
  const readItems = (path: string): void => {
    let index = 0;
    for (skipSpace(); text[at] !== "]"; skipSpace()) {
      if (text[at] === ",") at++;
      readValue(`${path}[${index++}]`);
    }
    at++;
  };
  const readValue = (path: string): void => {
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
  readValue("");
  return [...found];
}
