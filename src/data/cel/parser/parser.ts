import { lengthOf } from "../values/text.ts";
import { isError } from "../values/value.ts";
import { Assembler, BROKEN } from "./assembler.ts";
import { type Entry, type Expr, type FieldInit, operators } from "./ast.ts";
import { literalOf, PRODUCTS, RELATIONS, RESERVED, SUMS, signed } from "./grammar.ts";
import { MAX_ERRORS, type Token, type TokenKind, tokenize } from "./lexer.ts";
import type { Macro } from "./macro.ts";
import { Source, type SourceError } from "./source.ts";
import { syntaxErrors } from "./syntax-errors.ts";

const MAX_POINTS = 100_000;
const MAX_DEPTH = 250;

/** A parsed expression, or its errors. */
export interface Parsed {
  readonly expr: Expr;
  readonly source: Source;
  readonly errors: readonly SourceError[];
}

/** Parses an expression and expands macros (by `macroKey`). */
export function parse(text: string, macros: ReadonlyMap<string, Macro>): Parsed {
  if (text.length > MAX_POINTS) {
    const size = lengthOf(text);
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_POINTS}`;
    if (size > MAX_POINTS) return { expr: BROKEN, source: new Source(""), errors: [{ at: -1, message }] };
  }
  const source = new Source(text);
  const tokenized = tokenize(source);
  const { tokens, errors } = tokenized;
  if (errors.length === 0) {
    const parser = new Parser(tokens, macros);
    try {
      return { expr: parser.parse(), source, errors: parser.errors };
    } catch (error) {
      if (error instanceof TooDeep) return { expr: BROKEN, source, errors: [{ at: -1, message: error.message }] };
      if (!(error instanceof Unexpected)) throw error;
    }
  }
  const later = errors.length > MAX_ERRORS ? [] : syntaxErrors(source, tokenized, macros);
  return { expr: BROKEN, source, errors: [...errors, ...later] };
}

/** An unexpected token. `syntaxErrors` then finds the message. */
class Unexpected extends Error {}

class TooDeep extends Error {}

/** The recursive grammar rules, each with a depth limit in cel-go. */
type Rule = "expr" | "relation" | "calc" | "member";

/** A recursive descent parser for text without syntax errors, with the depth limits of cel-go. */
class Parser extends Assembler {
  private index = 0;
  private readonly tokens: readonly Token[];
  private readonly depths: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };
  /** The depth of cel-go's visitor below an expression. Missing ones are 0. */
  private readonly heights = new Map<Expr, number>();

  constructor(tokens: readonly Token[], macros: ReadonlyMap<string, Macro>) {
    super(macros);
    this.tokens = tokens;
  }

  parse(): Expr {
    const expr = this.expr();
    this.expect("<EOF>");
    return expr;
  }

  private get token(): Token {
    return this.tokens[this.index] as Token;
  }

  private peek(ahead: number): TokenKind | undefined {
    return this.tokens[this.index + ahead]?.kind;
  }

  private accept(kind: TokenKind): Token | undefined {
    return this.token.kind === kind ? this.next() : undefined;
  }

  private next(): Token {
    const { token } = this;
    this.index++;
    return token;
  }

  private expect(kind: TokenKind): Token {
    if (this.token.kind !== kind) throw new Unexpected();
    return this.next();
  }

  private deeper(rule: Rule): void {
    if (++this.depths[rule] > MAX_DEPTH) throw new TooDeep(`expression recursion limit exceeded: ${MAX_DEPTH}`);
  }

  /** Records the depth of cel-go's visitor for an expression that it counts. */
  private counted<T extends Expr>(expr: T, parts: readonly Expr[]): T {
    const height = this.heightOf(parts) + 1;
    if (height > MAX_DEPTH) throw new TooDeep("max recursion depth exceeded");
    this.heights.set(expr, height);
    return expr;
  }

  private passed<T extends Expr>(expr: T, parts: readonly Expr[]): T {
    const height = this.heightOf(parts);
    if (height > 0) this.heights.set(expr, height);
    return expr;
  }

  private heightOf(parts: readonly Expr[]): number {
    let height = 0;
    for (const part of parts) height = Math.max(height, this.heights.get(part) ?? 0);
    return height;
  }

  private expr(): Expr {
    this.deeper("expr");
    const condition = this.logical("'||'", operators.or);
    const mark = this.accept("'?'");
    let result = condition;
    if (mark !== undefined) {
      const whenTrue = this.logical("'||'", operators.or);
      this.expect("':'");
      const whenFalse = this.expr();
      const args = [condition, whenTrue, whenFalse];
      result = this.counted(this.call(mark.at, operators.conditional, args), args);
    }
    this.depths.expr--;
    return result;
  }

  /** Terms joined by || or &&, as a balanced tree. */
  private logical(kind: TokenKind, name: string): Expr {
    const term = () => (kind === "'||'" ? this.logical("'&&'", operators.and) : this.relation());
    const terms = [term()];
    const places: number[] = [];
    for (let op = this.accept(kind); op !== undefined; op = this.accept(kind)) {
      terms.push(term());
      places.push(op.at);
    }
    return places.length === 0 ? (terms[0] as Expr) : this.balance(name, terms, places, 0, places.length - 1);
  }

  private balance(name: string, terms: readonly Expr[], places: readonly number[], low: number, high: number): Expr {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? (terms[middle] as Expr) : this.balance(name, terms, places, low, middle - 1);
    const right = middle === high ? (terms[middle + 1] as Expr) : this.balance(name, terms, places, middle + 1, high);
    const args = [left, right];
    return this.passed({ kind: "call", at: places[middle] as number, name, target: undefined, args }, args);
  }

  private relation(): Expr {
    this.deeper("relation");
    const before = this.depths.relation;
    let left = this.sum();
    for (let name = RELATIONS.get(this.token.kind); name !== undefined; name = RELATIONS.get(this.token.kind)) {
      const op = this.next();
      this.deeper("relation");
      const right = this.sum();
      left = this.counted(this.call(op.at, name, [left, right]), [left, right]);
    }
    this.depths.relation = before - 1;
    return left;
  }

  private sum(): Expr {
    this.deeper("calc");
    const before = this.depths.calc;
    let left = this.product();
    for (let name = SUMS.get(this.token.kind); name !== undefined; name = SUMS.get(this.token.kind)) {
      const op = this.next();
      this.deeper("calc");
      const right = this.product();
      left = this.counted(this.call(op.at, name, [left, right]), [left, right]);
    }
    this.depths.calc = before - 1;
    return left;
  }

  private product(): Expr {
    const before = this.depths.calc;
    let left = this.unary();
    for (let name = PRODUCTS.get(this.token.kind); name !== undefined; name = PRODUCTS.get(this.token.kind)) {
      const op = this.next();
      this.deeper("calc");
      const right = this.unary();
      left = this.counted(this.call(op.at, name, [left, right]), [left, right]);
    }
    this.depths.calc = before;
    return left;
  }

  private unary(): Expr {
    const { kind, at } = this.token;
    if (kind === "'!'") return this.prefixed(at, kind, operators.not);
    const ahead = this.peek(1);
    if (kind === "'-'" && ahead !== "NUM_INT" && ahead !== "NUM_FLOAT")
      return this.prefixed(at, kind, operators.negate);
    return this.member();
  }

  /** Prefix operators: an even number of them has no effect. */
  private prefixed(at: number, kind: TokenKind, name: string): Expr {
    let count = 0;
    while (this.accept(kind) !== undefined) count++;
    const operand = this.member();
    return count % 2 === 0 ? operand : this.call(at, name, [operand]);
  }

  private member(): Expr {
    this.deeper("member");
    const before = this.depths.member;
    let operand = this.primary();
    for (;;) {
      const { kind, at } = this.token;
      if (kind === "'['") operand = this.indexed(operand);
      else if (kind === "'.'") operand = this.selected(operand, at);
      else break;
      this.deeper("member");
    }
    this.depths.member = before - 1;
    return operand;
  }

  private indexed(operand: Expr): Expr {
    const { at } = this.next();
    const optional = this.accept("'?'") !== undefined;
    const index = this.expr();
    this.expect("']'");
    const name = optional ? operators.optIndex : operators.index;
    return this.counted(this.call(at, name, [operand, index]), [operand, index]);
  }

  private selected(operand: Expr, at: number): Expr {
    this.next();
    if (this.accept("'?'") !== undefined) {
      const field: Expr = { kind: "literal", at: this.token.at, value: this.fieldName() };
      return this.counted(this.plainCall(at, operators.optSelect, [operand, field]), [operand]);
    }
    if (this.token.kind === "IDENTIFIER" && this.peek(1) === "'('") {
      const name = this.next().text;
      const open = this.next();
      const args = this.args();
      return this.counted(this.memberCall(open.at, name, operand, args), [operand, ...args]);
    }
    return this.counted({ kind: "select", at, operand, field: this.fieldName(), test: false }, [operand]);
  }

  private fieldName(): string {
    const escaped = this.accept("ESC_IDENTIFIER");
    return escaped === undefined ? this.expect("IDENTIFIER").text : escaped.text.slice(1, -1);
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    if (this.accept("')'") !== undefined) return args;
    do args.push(this.expr());
    while (this.accept("','") !== undefined);
    this.expect("')'");
    return args;
  }

  private primary(): Expr {
    const { kind, at } = this.token;
    switch (kind) {
      case "'('": {
        this.next();
        const expr = this.expr();
        this.expect("')'");
        return expr;
      }
      case "'['":
        return this.list();
      case "'{'":
        return this.map();
      case "'.'":
      case "IDENTIFIER":
        return this.named(at);
      default:
        return this.literal(at);
    }
  }

  private named(at: number): Expr {
    const dot = this.accept("'.'") === undefined ? "" : ".";
    const object = this.objectName();
    if (object !== undefined) return this.object(dot + object);
    const id = this.expect("IDENTIFIER");
    const open = this.token.kind === "'('" ? this.next() : undefined;
    if (RESERVED.has(id.text)) {
      if (open !== undefined) this.args();
      return this.refuse(at, `reserved identifier: ${id.text}`);
    }
    if (open === undefined) return { kind: "ident", at: id.at, name: dot + id.text };
    const args = this.args();
    return this.passed(this.call(open.at, dot + id.text, args), args);
  }

  /** The name before the brace of an object literal. Undefined if there is none. */
  private objectName(): string | undefined {
    let ahead = 0;
    while (this.peek(ahead) === "IDENTIFIER" && this.peek(ahead + 1) === "'.'") ahead += 2;
    if (this.peek(ahead) !== "IDENTIFIER" || this.peek(ahead + 1) !== "'{'") return undefined;
    const parts: string[] = [];
    for (let i = 0; i <= ahead; i++) parts.push(this.next().text);
    return parts.join("");
  }

  private list(): Expr {
    const { at } = this.next();
    const elements: Expr[] = [];
    const optional = new Set<number>();
    this.sequence("']'", () => {
      if (this.accept("'?'") !== undefined) optional.add(elements.length);
      elements.push(this.expr());
    });
    return this.passed({ kind: "list", at, elements, optional }, elements);
  }

  private map(): Expr {
    const { at } = this.next();
    const entries: Entry[] = [];
    this.sequence("'}'", () => {
      const optional = this.accept("'?'") !== undefined;
      const key = this.expr();
      const colon = this.expect("':'");
      entries.push({ at: colon.at, key, value: this.expr(), optional });
    });
    return this.passed(
      { kind: "map", at, entries },
      entries.flatMap(({ key, value }) => [key, value]),
    );
  }

  private object(typeName: string): Expr {
    const { at } = this.next();
    const fields: FieldInit[] = [];
    this.sequence("'}'", () => {
      const optional = this.accept("'?'") !== undefined;
      const name = this.fieldName();
      const colon = this.expect("':'");
      fields.push({ at: colon.at, name, value: this.expr(), optional });
    });
    return this.passed(
      { kind: "struct", at, typeName, fields },
      fields.map(({ value }) => value),
    );
  }

  /** Items separated by commas, with an optional trailing comma, or a comma alone. */
  private sequence(end: TokenKind, item: () => void): void {
    if (this.accept(end) !== undefined) return;
    if (this.token.kind !== "','") {
      item();
      while (this.peek(0) === "','" && this.peek(1) !== end) {
        this.next();
        item();
      }
    }
    this.accept("','");
    this.expect(end);
  }

  private literal(at: number): Expr {
    const negative = this.accept("'-'") !== undefined;
    const { kind, text } = this.next();
    const value = negative ? signed(kind, text) : literalOf(kind, text);
    if (value === undefined) throw new Unexpected();
    return isError(value) ? this.refuse(at, value.message) : { kind: "literal", at, value };
  }
}
