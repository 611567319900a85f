import { addAll } from "../util/add-all.ts";
import { plainError } from "./api-error.ts";
import type { KubeObject } from "./object.ts";

/** Selects objects whose hashed uid or namespace is in one of the given ranges. */
export interface ShardSelector {
  /** The canonical text. Lists return it to show that it was applied. */
  readonly text: string;
  matches(object: KubeObject): boolean;
}

interface Range {
  readonly path: string;
  readonly start: string;
  readonly end: string;
}

type Token = { readonly type: "name" | "string" | "symbol" | "number" | "end"; readonly text: string };

const FIELDS: Readonly<Record<string, (object: KubeObject) => string>> = {
  "object.metadata.uid": (object) => object.metadata.uid ?? "",
  "object.metadata.namespace": (object) => object.metadata.namespace ?? "",
};

/** Parses the shardSelector parameter. Undefined if it is empty. Throws the plain 500 of kube-apiserver. */
export function parseShardSelector(text: string): ShardSelector | undefined {
  if (text === "") return undefined;
  if (text.trim() === "") return fail("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  const ranges = new Parser(text).parse();
  const path = ranges[0]?.path ?? "";
  for (const range of ranges) {
    if (range.path !== path) fail(`all shard ranges must use the same field, got "${path}" and "${range.path}"`);
  }
  const readField = FIELDS[path] ?? (() => "");
  return {
    text: ranges.map((range) => `shardRange(${range.path}, '${range.start}', '${range.end}')`).join(" || "),
    matches: (object) => {
      const hash = lastHash(readField(object));
      return ranges.some(({ start, end }) => compareHex(start, hash) <= 0 && compareHex(hash, end) < 0);
    },
  };
}

const OFFSET_BASIS = 0xcbf2_9ce4_8422_2325n;
const PRIME = 0x100_0000_01b3n;

let last = { text: "", hash: "" };

/** The hash of a field. Many watchers need that of the same object, one after the other. */
function lastHash(text: string): string {
  if (last.text !== text || last.hash === "") last = { text, hash: shardHash(text) };
  return last.hash;
}

/** 64-bit FNV-1a over the UTF-8 bytes, as `0x` and sixteen hex digits. */
export function shardHash(text: string): string {
  let hash = OFFSET_BASIS;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  return `0x${hash.toString(16).padStart(16, "0")}`;
}

/** Compares hex numbers without leading zeros beyond sixteen digits: the longer one is greater. */
function compareHex(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 250;
const TOKEN =
  /\s*(?:([A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)|'([^']*)'|"([^"]*)"|(\|\||&&|[<>=!]=|[-+*/%<>!?:(),[\]{}])|(\d[\w.]*))/y;

/** Parses the subset of CEL that shard selectors may use. */
class Parser {
  readonly #tokens: Token[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    if (text.length > MAX_TEXT) failSyntax("expression too long");
    TOKEN.lastIndex = 0;
    const end = text.trimEnd().length;
    while (TOKEN.lastIndex < end) {
      const match = TOKEN.exec(text);
      if (!match) failSyntax("token recognition error");
      const [, name, single, double, symbol, number] = match;
      if (name !== undefined) this.#tokens.push({ type: "name", text: name });
      else if (symbol !== undefined) this.#tokens.push({ type: "symbol", text: symbol });
      else if (number !== undefined) this.#tokens.push({ type: "number", text: number });
      else this.#tokens.push({ type: "string", text: single ?? double ?? "" });
    }
  }

  parse(): Range[] {
    const ranges = this.#alternatives();
    const rest = this.#peek();
    if (rest.type === "symbol" && rest.text !== ")") return failFunction(`_${rest.text}_`);
    if (rest.type !== "end") return failSyntax(`extraneous input '${rest.text}'`);
    return ranges;
  }

  #alternatives(): Range[] {
    const ranges = this.#primary();
    while (this.#peek().text === "||" && this.#peek().type === "symbol") {
      this.#next();
      addAll(ranges, this.#primary());
    }
    return ranges;
  }

  #primary(): Range[] {
    const token = this.#next();
    if (token.type === "symbol" && token.text === "(") {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) return failSyntax("expression recursion limit exceeded");
      const ranges = this.#alternatives();
      this.#expect(")");
      this.#depth -= 1;
      return ranges;
    }
    if (token.type !== "name" || this.#peek().text !== "(") return failSyntax(`mismatched input '${token.text}'`);
    const values = this.#callArguments();
    if (token.text !== "shardRange") {
      const operator = this.#peek();
      return failFunction(operator.type === "symbol" && operator.text !== ")" ? `_${operator.text}_` : token.text);
    }
    return [toRange(values)];
  }

  #callArguments(): string[] {
    this.#expect("(");
    const values: string[] = [];
    while (this.#peek().text !== ")" || this.#peek().type !== "symbol") {
      if (values.length > 0) this.#expect(",");
      const token = this.#next();
      if (token.type === "end" || token.type === "symbol") return failSyntax(`mismatched input '${token.text}'`);
      values.push(token.text);
    }
    this.#expect(")");
    return values;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { type: "end", text: "<EOF>" };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #expect(symbol: string): void {
    const token = this.#next();
    if (token.type !== "symbol" || token.text !== symbol) failSyntax(`missing '${symbol}' at '${token.text}'`);
  }
}

function toRange(values: readonly string[]): Range {
  if (values.length !== 3) return fail(`shardRange() requires exactly 3 arguments, got ${values.length}`);
  const [path = "", start = "", end = ""] = values;
  if (!Object.hasOwn(FIELDS, path)) {
    return fail(`unsupported field path "${path}"; supported: ${Object.keys(FIELDS).join(", ")}`);
  }
  checkHex("hexStart", start);
  checkHex("hexEnd", end);
  if (compareHex(start, end) >= 0) return fail(`shard range start ${start} must be less than end ${end}`);
  return { path, start, end };
}

const WHOLE = "0x10000000000000000";

function checkHex(what: string, text: string): void {
  if (!text.startsWith("0x")) fail(`${what} must have '0x' prefix, got "${text}"`);
  if (text === WHOLE || /^0x[0-9a-f]{16}$/.test(text)) return;
  const digits = text.slice(2).toLowerCase();
  const hint = /^[0-9a-f]{1,16}$/.test(digits) ? ` (did you mean "0x${digits.padStart(16, "0")}"?)` : "";
  fail(`${what} must be a 0x-prefixed 16-digit hex value, got "${text}"${hint}`);
}

function failFunction(name: string): never {
  return fail(`unsupported function "${name}"; only shardRange() and || are allowed`);
}

function failSyntax(words: string): never {
  return fail(`CEL parse error: Syntax error: ${words}`);
}

function fail(text: string): never {
  throw plainError(500, `invalid shard selector: ${text}`);
}
