/** `[start:end:step]`. `isDerived`: the end follows from the start of a single index. */
export interface Params {
  readonly start?: number;
  readonly end?: { readonly value: number; readonly isDerived: boolean };
  readonly step?: number;
}

/** One node of a path. */
export type Node =
  | { readonly type: "list"; readonly nodes: readonly Node[] }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "literal"; readonly value: number | boolean }
  | { readonly type: "field"; readonly name: string }
  | { readonly type: "array"; readonly params: Params }
  | { readonly type: "wildcard" | "recursive" | "identifier" }
  | { readonly type: "union"; readonly lists: readonly Node[] }
  | { readonly type: "filter"; readonly left: Node; readonly right: Node; readonly operator: string };

class ParseError extends Error {}

const MAX_DEPTH = 20;
const MAX_LENGTH = 10_000;

/** Parses a Kubernetes JSONPath template. Undefined if it is malformed. Upstream: `jsonpath.Parser`. */
export function parseJsonPath(template: string): readonly Node[] | undefined {
  if (template.length > MAX_LENGTH) return undefined;
  try {
    return new Parser(template, 0).text();
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

const TERMINATORS = new Set([..." \t\r\n.,[]$@{}"]);
const isTerminator = (char: string) => char === "" || TERMINATORS.has(char);
const isWord = (char: string) => /^[\p{L}\p{Nd}_]$/u.test(char);
const SLICE = /^(-?[\d]*)(:-?[\d]*)?(:-?[\d]*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)([^!<>=].*)$/;

class Parser {
  readonly #input: string;
  readonly #depth: number;
  #at = 0;

  constructor(input: string, depth: number) {
    if (depth > MAX_DEPTH) throw new ParseError("too deep");
    this.#input = input;
    this.#depth = depth;
  }

  text(): Node[] {
    const nodes: Node[] = [];
    while (this.#at < this.#input.length) {
      const open = this.#input.indexOf("{", this.#at);
      const end = open < 0 ? this.#input.length : open;
      if (end > this.#at) nodes.push({ type: "text", text: this.#input.slice(this.#at, end) });
      this.#at = end;
      if (open < 0) break;
      this.#at += 1;
      nodes.push(this.#action());
    }
    return nodes;
  }

  #action(): Node {
    const nodes: Node[] = [];
    for (;;) {
      if (this.#takes("}")) return { type: "list", nodes };
      if (this.#takes("[?(")) this.#filter(nodes);
      else if (this.#takes("..")) this.#recursive(nodes);
      else this.#step(nodes);
    }
  }

  #step(nodes: Node[]): void {
    const char = this.#next();
    if (char === "" || char === "\r" || char === "\n") throw new ParseError("unclosed action");
    if (char === " " || char === "@" || char === "$") return;
    if (char === "[") this.#array(nodes);
    else if (char === '"' || char === "'") nodes.push({ type: "text", text: this.#quoted(char) });
    else if (char === ".") this.#field(nodes);
    else if (/^[-+\d]$/.test(char)) nodes.push({ type: "literal", value: this.#number(char) });
    else if (isWord(char)) nodes.push(this.#word(char));
    else throw new ParseError("unrecognized character in action");
  }

  #takes(prefix: string): boolean {
    if (!this.#input.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  #peek(): string {
    const code = this.#input.codePointAt(this.#at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  #next(): string {
    const char = this.#peek();
    this.#at += char.length;
    return char;
  }

  #word(first: string): Node {
    let word = first;
    while (!isTerminator(this.#peek())) word += this.#next();
    if (word === "true" || word === "false") return { type: "literal", value: word === "true" };
    return { type: "identifier" };
  }

  #number(first: string): number {
    let digits = first;
    while (/^[.\d]$/.test(this.#peek())) digits += this.#next();
    const value = Number(digits);
    if (digits === "+" || digits === "-" || Number.isNaN(value)) throw new ParseError("cannot parse number");
    return value;
  }

  #recursive(nodes: Node[]): void {
    if (nodes.at(-1)?.type === "recursive") throw new ParseError("invalid multiple recursive descent");
    nodes.push({ type: "recursive" });
    if (isWord(this.#peek())) this.#field(nodes);
  }

  #field(nodes: Node[]): void {
    let name = "";
    while (!isTerminator(this.#peek())) {
      const char = this.#next();
      name += char === "\\" ? this.#next() : char;
    }
    nodes.push(name === "*" ? { type: "wildcard" } : { type: "field", name });
  }

  #array(nodes: Node[]): void {
    const end = this.#input.indexOf("]", this.#at);
    const inner = this.#input.slice(this.#at, end < 0 ? undefined : end);
    if (end < 0 || inner.includes("\n")) throw new ParseError("unterminated array");
    this.#at = end + 1;
    const text = inner === "*" ? ":" : inner;
    const parts = text.split(",");
    if (parts.length > 1) {
      nodes.push({ type: "union", lists: parts.map((part) => this.#inner(`[${part.replace(/^ +/, "").trimEnd()}]`)) });
    } else if (text.length >= 2 && text.startsWith("'") && text.endsWith("'")) {
      const key = this.#inner(`.${text.slice(1, -1)}`);
      if (key.type === "list") for (const node of key.nodes) nodes.push(node);
    } else nodes.push({ type: "array", params: paramsOf(text) });
  }

  #filter(nodes: Node[]): void {
    const begin = this.#at;
    let pair = "";
    let isClosed = false;
    for (;;) {
      const char = this.#next();
      if (char === "" || char === "\n") throw new ParseError("unterminated filter");
      if (char === '"' || char === "'") {
        if (pair === "") pair = char;
        else if (char === pair && this.#input[this.#at - 2] !== "\\") isClosed = true;
      }
      if (char === ")" && (pair === "" || isClosed)) break;
    }
    const text = this.#input.slice(begin, this.#at - 1);
    if (this.#next() !== "]") throw new ParseError("unclosed array expect ]");
    const [, left, operator = "", right = ""] = COMPARISON.exec(text) ?? [];
    if (left === undefined) {
      nodes.push({ type: "filter", left: this.#inner(text), right: { type: "list", nodes: [] }, operator: "exists" });
    } else nodes.push({ type: "filter", left: this.#inner(left), right: this.#inner(right), operator });
  }

  #quoted(end: string): string {
    const begin = this.#at;
    for (;;) {
      const char = this.#next();
      if (char === "" || char === "\n") throw new ParseError("unterminated quoted string");
      if (char === end && this.#input[this.#at - 2] !== "\\") break;
    }
    return this.#input.slice(begin, this.#at - 1).replace(/\\(.)/g, "$1");
  }

  #inner(text: string): Node {
    const [node] = new Parser(`{${text}}`, this.#depth + 1).text();
    if (node === undefined) throw new ParseError("nothing inside");
    return node;
  }
}

function paramsOf(text: string): Params {
  const match = SLICE.exec(text);
  if (!match) throw new ParseError("invalid array index");
  const [, first = "", second, third] = match;
  const start = first === "" ? undefined : numberOf(first);
  const end =
    second === undefined
      ? { value: (start ?? 0) + 1, isDerived: true }
      : second === ":"
        ? undefined
        : { value: numberOf(second.slice(1)), isDerived: false };
  const step = third === undefined || third === ":" ? undefined : numberOf(third.slice(1));
  return { ...(start !== undefined && { start }), ...(end && { end }), ...(step !== undefined && { step }) };
}

function numberOf(digits: string): number {
  const value = Number(digits);
  if (digits === "-" || !Number.isSafeInteger(value)) throw new ParseError("array index is not a number");
  return value;
}
