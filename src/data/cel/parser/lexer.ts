import type { Source, SourceError } from "./source.ts";

/** Token names as printed in messages, in the order of CEL's grammar, which also sorts sets of them. */
export const TOKENS = [
  "<EOF>",
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
  "ESC_IDENTIFIER",
] as const;

/** The type of a token. */
export type TokenKind = (typeof TOKENS)[number];

/** A token, with its start and end in UTF-16 units. */
export interface Token {
  readonly kind: TokenKind;
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

const SIGNS: ReadonlyMap<string, TokenKind> = new Map(
  TOKENS.filter((name) => /^'[^a-z]+'$/.test(name)).map((name) => [name.slice(1, -1), name]),
);
const WORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["in", "'in'"],
  ["true", "'true'"],
  ["false", "'false'"],
  ["null", "'null'"],
]);

const isDigit = (c: string | undefined) => c !== undefined && c >= "0" && c <= "9";
const isHex = (c: string | undefined) =>
  c !== undefined && ((c >= "0" && c <= "9") || (c >= "a" && c <= "f") || (c >= "A" && c <= "F"));
const isLetter = (c: string | undefined) =>
  c !== undefined && ((c >= "a" && c <= "z") || (c >= "A" && c <= "Z") || c === "_");
const isSpace = (c: string | undefined) => c === " " || c === "\t" || c === "\n" || c === "\r" || c === "\f";

/** The number of errors after which cel-go's parser gives up. */
export const MAX_ERRORS = 100;

/** The result of the lexer. */
export interface Tokenized {
  /** Including <EOF>. */
  readonly tokens: readonly Token[];
  /** Errors about text that is not a token. */
  readonly errors: readonly SourceError[];
  /** The ranges of such text. */
  readonly holes: readonly { readonly at: number; readonly end: number }[];
}

/** Splits a text into tokens. */
export function tokenize(source: Source): Tokenized {
  const { text } = source;
  const tokens: Token[] = [];
  const errors: SourceError[] = [];
  const holes: { readonly at: number; readonly end: number }[] = [];
  let at = 0;
  for (;;) {
    at = skipHidden(text, at);
    if (at >= text.length) break;
    const found = scan(text, at);
    if (found.kind === undefined) {
      const end = found.end + lengthAt(text, found.end);
      const shown = text.slice(at, end);
      errors.push({ at, message: `Syntax error: token recognition error at: '${shown}'` });
      if (errors.length > MAX_ERRORS) {
        errors[MAX_ERRORS] = { at, message: `Syntax error: More than ${MAX_ERRORS} syntax errors` };
        break;
      }
      holes.push({ at, end });
      at = end;
    } else {
      tokens.push({ kind: found.kind, at, end: found.end, text: text.slice(at, found.end) });
      at = found.end;
    }
  }
  tokens.push({ kind: "<EOF>", at: text.length, end: text.length, text: "<EOF>" });
  return { tokens, errors, holes };
}

/** Escapes a text like in messages of the parser. */
export const escapeText = (text: string): string =>
  text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");

/** The number of UTF-16 units of the character at a position. */
const lengthAt = (text: string, at: number) => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

function skipHidden(text: string, from: number): number {
  let at = from;
  for (;;) {
    if (isSpace(text[at])) at++;
    else if (text[at] === "/" && text[at + 1] === "/") {
      while (at < text.length && text[at] !== "\n") at++;
    } else return at;
  }
}

/** A token and its end. Without a kind, the position where the lexer failed. */
interface Scanned {
  readonly kind?: TokenKind;
  readonly end: number;
}

function scan(text: string, at: number): Scanned {
  const first = text[at] as string;
  if (isDigit(first) || (first === "." && isDigit(text[at + 1]))) return scanNumber(text, at);
  if (first === '"' || first === "'") return scanString(text, at, at, "STRING", false);
  if (isLetter(first)) return scanPrefixed(text, at) ?? scanWord(text, at);
  if (first === "`") return scanEscaped(text, at);
  const two = SIGNS.get(first + (text[at + 1] ?? ""));
  if (two !== undefined) return { kind: two, end: at + 2 };
  const one = SIGNS.get(first);
  if (one !== undefined) return { kind: one, end: at + 1 };
  // The first half of an operator makes the lexer look one character further.
  return { end: first === "=" || first === "&" || first === "|" ? at + 1 : at };
}

function scanWord(text: string, at: number): Scanned {
  let end = at + 1;
  while (isLetter(text[end]) || isDigit(text[end])) end++;
  const kind = end - at <= 5 ? WORDS.get(text.slice(at, end)) : undefined;
  return { kind: kind ?? "IDENTIFIER", end };
}

/** A string or bytes literal with the prefix b, r or br. Undefined if there is none. */
function scanPrefixed(text: string, at: number): Scanned | undefined {
  let start = at;
  const isBytes = text[start] === "b" || text[start] === "B";
  if (isBytes) start++;
  const isRaw = text[start] === "r" || text[start] === "R";
  if (isRaw) start++;
  if (start === at || (text[start] !== '"' && text[start] !== "'")) return undefined;
  const found = scanString(text, at, start, isBytes ? "BYTES" : "STRING", isRaw);
  // Without a valid string, the prefix is a name.
  return found.kind === undefined ? undefined : found;
}

function scanString(text: string, at: number, start: number, kind: TokenKind, isRaw: boolean): Scanned {
  const quote = text[start];
  const isTriple = text[start + 1] === quote && text[start + 2] === quote;
  if (isTriple) {
    const end = scanBody(text, start + 3, quote, isRaw, true);
    if (end.kind !== undefined) return { kind, end: end.end };
    return { kind, end: start + 2 };
  }
  const end = scanBody(text, start + 1, quote, isRaw, false);
  if (end.kind !== undefined) return { kind, end: end.end };
  return start === at ? { end: end.end } : end;
}

function scanBody(text: string, start: number, quote: string | undefined, isRaw: boolean, isTriple: boolean): Scanned {
  let i = start;
  for (;;) {
    const c = text[i];
    if (c === undefined) return { end: i };
    if (c === quote && (!isTriple || (text[i + 1] === quote && text[i + 2] === quote))) {
      return { kind: "STRING", end: i + (isTriple ? 3 : 1) };
    }
    if (c === "\\" && !isRaw) {
      const next = scanEscape(text, i);
      if (next.kind === undefined) return next;
      i = next.end;
    } else if (!isTriple && (c === "\n" || c === "\r")) return { end: i };
    else i++;
  }
}

const HEX_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["X", 2],
  ["u", 4],
  ["U", 8],
]);

function scanEscape(text: string, at: number): Scanned {
  const c = text[at + 1] ?? "";
  if (c !== "" && "abfnrtv\"'\\?`".includes(c)) return { kind: "STRING", end: at + 2 };
  const hex = HEX_ESCAPES.get(c);
  const isOctal = c >= "0" && c <= "3";
  const length = hex ?? (isOctal ? 2 : undefined);
  if (length === undefined) return { end: at + 1 };
  for (let i = at + 2; i < at + 2 + length; i++) {
    const digit = text[i];
    const fits = hex === undefined ? digit !== undefined && digit >= "0" && digit <= "7" : isHex(digit);
    if (!fits) return { end: i };
  }
  return { kind: "STRING", end: at + 2 + length };
}

function scanEscaped(text: string, at: number): Scanned {
  let end = at + 1;
  while (
    text[end] !== undefined &&
    (isLetter(text[end]) || isDigit(text[end]) || "._-/ ".includes(text[end] as string))
  )
    end++;
  return text[end] === "`" && end > at + 1 ? { kind: "ESC_IDENTIFIER", end: end + 1 } : { end };
}

function scanNumber(text: string, at: number): Scanned {
  let end = at;
  if (text[at] === "0" && text[at + 1] === "x" && isHex(text[at + 2])) {
    end = at + 2;
    while (isHex(text[end])) end++;
    return withUnsigned(text, end);
  }
  while (isDigit(text[end])) end++;
  let isFloat = false;
  if (text[end] === "." && isDigit(text[end + 1])) {
    isFloat = true;
    end++;
    while (isDigit(text[end])) end++;
  }
  if (text[end] === "e" || text[end] === "E") {
    const digits = text[end + 1] === "+" || text[end + 1] === "-" ? end + 2 : end + 1;
    if (isDigit(text[digits])) {
      isFloat = true;
      end = digits;
      while (isDigit(text[end])) end++;
    }
  }
  return isFloat ? { kind: "NUM_FLOAT", end } : withUnsigned(text, end);
}

function withUnsigned(text: string, end: number): Scanned {
  const isUnsigned = text[end] === "u" || text[end] === "U";
  return isUnsigned ? { kind: "NUM_UINT", end: end + 1 } : { kind: "NUM_INT", end };
}
