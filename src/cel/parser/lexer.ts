import type { Source, SourceError } from "./source.ts";

/** Names of tokens as messages print them, in the order of CEL's grammar, by which sets of them are sorted. */
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

/** What a token is. */
export type TokenKind = (typeof TOKENS)[number];

/** A token, and where it starts and ends, counted in code points. */
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

const isDigit = (c: string | undefined) => c !== undefined && c >= "0" && c <= "9" && c.length === 1;
const isHex = (c: string | undefined) => c !== undefined && /^[0-9a-fA-F]$/.test(c);
const isLetter = (c: string | undefined) => c !== undefined && /^[A-Za-z_]$/.test(c);
const isSpace = (c: string | undefined) => c === " " || c === "\t" || c === "\n" || c === "\r" || c === "\f";

/** The tokens of a text, up to and with <EOF>, and what no token can be made of. */
export function tokenize(source: Source): { readonly tokens: readonly Token[]; readonly errors: SourceError[] } {
  const { points } = source;
  const tokens: Token[] = [];
  const errors: SourceError[] = [];
  let at = 0;
  for (;;) {
    at = skipHidden(points, at);
    if (at >= points.length) break;
    const found = scan(points, at);
    if (found.kind === undefined) {
      const shown = escapeText(points.slice(at, found.end + 1).join(""));
      errors.push({ at, message: `Syntax error: token recognition error at: '${shown}'` });
      at = found.end + 1;
    } else {
      tokens.push({ kind: found.kind, at, end: found.end, text: points.slice(at, found.end).join("") });
      at = found.end;
    }
  }
  tokens.push({ kind: "<EOF>", at: points.length, end: points.length, text: "<EOF>" });
  return { tokens, errors };
}

/** Text as messages of the parser show it. */
export const escapeText = (text: string): string =>
  text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");

function skipHidden(points: readonly string[], from: number): number {
  let at = from;
  for (;;) {
    if (isSpace(points[at])) at++;
    else if (points[at] === "/" && points[at + 1] === "/") {
      while (at < points.length && points[at] !== "\n") at++;
    } else return at;
  }
}

/** A token and its end; without a kind, where the lexer could not go on. */
interface Scanned {
  readonly kind?: TokenKind;
  readonly end: number;
}

function scan(points: readonly string[], at: number): Scanned {
  const first = points[at] as string;
  if (isDigit(first) || (first === "." && isDigit(points[at + 1]))) return scanNumber(points, at);
  if (first === '"' || first === "'") return scanString(points, at, at, "STRING", false);
  if (isLetter(first)) return scanPrefixed(points, at) ?? scanWord(points, at);
  if (first === "`") return scanEscaped(points, at);
  const two = SIGNS.get(first + (points[at + 1] ?? ""));
  if (two !== undefined) return { kind: two, end: at + 2 };
  const one = SIGNS.get(first);
  if (one !== undefined) return { kind: one, end: at + 1 };
  // The first half of an operator makes the lexer look one further.
  return { end: first === "=" || first === "&" || first === "|" ? at + 1 : at };
}

function scanWord(points: readonly string[], at: number): Scanned {
  let end = at + 1;
  while (isLetter(points[end]) || isDigit(points[end])) end++;
  const kind = end - at <= 5 ? WORDS.get(points.slice(at, end).join("")) : undefined;
  return { kind: kind ?? "IDENTIFIER", end };
}

/** A string or bytes with b, r or br in front; undefined if there is none. */
function scanPrefixed(points: readonly string[], at: number): Scanned | undefined {
  let start = at;
  const isBytes = points[start] === "b" || points[start] === "B";
  if (isBytes) start++;
  const isRaw = points[start] === "r" || points[start] === "R";
  if (isRaw) start++;
  if (start === at || (points[start] !== '"' && points[start] !== "'")) return undefined;
  const found = scanString(points, at, start, isBytes ? "BYTES" : "STRING", isRaw);
  // What is no string is still a name.
  return found.kind === undefined ? undefined : found;
}

function scanString(points: readonly string[], at: number, start: number, kind: TokenKind, isRaw: boolean): Scanned {
  const quote = points[start];
  const isTriple = points[start + 1] === quote && points[start + 2] === quote;
  if (isTriple) {
    const end = scanBody(points, start + 3, quote, isRaw, true);
    if (end.kind !== undefined) return { kind, end: end.end };
    return { kind, end: start + 2 };
  }
  const end = scanBody(points, start + 1, quote, isRaw, false);
  if (end.kind !== undefined) return { kind, end: end.end };
  return start === at ? { end: end.end } : end;
}

function scanBody(
  points: readonly string[],
  start: number,
  quote: string | undefined,
  isRaw: boolean,
  isTriple: boolean,
): Scanned {
  let i = start;
  for (;;) {
    const c = points[i];
    if (c === undefined) return { end: i };
    if (c === quote && (!isTriple || (points[i + 1] === quote && points[i + 2] === quote))) {
      return { kind: "STRING", end: i + (isTriple ? 3 : 1) };
    }
    if (c === "\\" && !isRaw) {
      const next = scanEscape(points, i);
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

function scanEscape(points: readonly string[], at: number): Scanned {
  const c = points[at + 1] ?? "";
  if (c !== "" && "abfnrtv\"'\\?`".includes(c)) return { kind: "STRING", end: at + 2 };
  const hex = HEX_ESCAPES.get(c);
  const isOctal = c >= "0" && c <= "3";
  const length = hex ?? (isOctal ? 2 : undefined);
  if (length === undefined) return { end: at + 1 };
  for (let i = at + 2; i < at + 2 + length; i++) {
    const digit = points[i];
    const fits = hex === undefined ? digit !== undefined && digit >= "0" && digit <= "7" : isHex(digit);
    if (!fits) return { end: i };
  }
  return { kind: "STRING", end: at + 2 + length };
}

function scanEscaped(points: readonly string[], at: number): Scanned {
  let end = at + 1;
  while (points[end] !== undefined && /^[A-Za-z0-9_.\-/ ]$/.test(points[end] as string)) end++;
  return points[end] === "`" && end > at + 1 ? { kind: "ESC_IDENTIFIER", end: end + 1 } : { end };
}

function scanNumber(points: readonly string[], at: number): Scanned {
  let end = at;
  if (points[at] === "0" && points[at + 1] === "x" && isHex(points[at + 2])) {
    end = at + 2;
    while (isHex(points[end])) end++;
    return withUnsigned(points, end);
  }
  while (isDigit(points[end])) end++;
  let isFloat = false;
  if (points[end] === "." && isDigit(points[end + 1])) {
    isFloat = true;
    end++;
    while (isDigit(points[end])) end++;
  }
  if (points[end] === "e" || points[end] === "E") {
    const digits = points[end + 1] === "+" || points[end + 1] === "-" ? end + 2 : end + 1;
    if (isDigit(points[digits])) {
      isFloat = true;
      end = digits;
      while (isDigit(points[end])) end++;
    }
  }
  return isFloat ? { kind: "NUM_FLOAT", end } : withUnsigned(points, end);
}

function withUnsigned(points: readonly string[], end: number): Scanned {
  const isUnsigned = points[end] === "u" || points[end] === "U";
  return isUnsigned ? { kind: "NUM_UINT", end: end + 1 } : { kind: "NUM_INT", end };
}
