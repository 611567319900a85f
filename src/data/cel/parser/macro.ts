import type { Value } from "../values/value.ts";
import { ACCUMULATOR, type Call, type Comprehension, type Expr, type Ident } from "./ast.ts";
import type { SourceError } from "./source.ts";

/** Creates the expressions of a macro expansion, all at the position of its call. */
export class Builder {
  private readonly at: number;
  constructor(at: number) {
    this.at = at;
  }

  literal(value: Value): Expr {
    return { kind: "literal", at: this.at, value };
  }
  ident(name: string): Ident {
    return { kind: "ident", at: this.at, name };
  }
  accumulator(): Ident {
    return this.ident(ACCUMULATOR);
  }
  call(name: string, ...args: readonly Expr[]): Call {
    return { kind: "call", at: this.at, name, target: undefined, args };
  }
  memberCall(name: string, target: Expr, ...args: readonly Expr[]): Call {
    return { kind: "call", at: this.at, name, target, args };
  }
  list(...elements: readonly Expr[]): Expr {
    return { kind: "list", at: this.at, elements, optional: new Set() };
  }
  map(): Expr {
    return { kind: "map", at: this.at, entries: [] };
  }
  presence(operand: Expr, field: string): Expr {
    return { kind: "select", at: this.at, operand, field, test: true };
  }
  /** A fold. Default `accuVar`: the accumulator, which source text cannot name. */
  fold(parts: Omit<Comprehension, "kind" | "at" | "type" | "accuVar" | "iterVar2"> & Partial<Comprehension>): Expr {
    return { accuVar: ACCUMULATOR, iterVar2: undefined, ...parts, kind: "comprehension", at: this.at };
  }
}

/** A call that the parser replaces by another expression. */
export interface Macro {
  readonly name: string;
  readonly args: number;
  readonly isMember: boolean;
  /** The expression, an error if the arguments do not match, or undefined if the call is not expanded. */
  expand(build: Builder, args: readonly Expr[], target: Expr): Expr | SourceError | undefined;
}

/** The lookup key of a macro. */
export const macroKey = (name: string, args: number, isMember: boolean): string => `${name}:${args}:${isMember}`;

/** Whether the result of a macro is an error. */
export const isRefusal = (result: Expr | SourceError): result is SourceError => "message" in result;

/** A deep copy, for a macro that needs an expression twice. */
export function copyExpr<T extends Expr>(expr: T): T;
export function copyExpr(expr: Expr): Expr {
  switch (expr.kind) {
    case "select":
      return { ...expr, operand: copyExpr(expr.operand) };
    case "call":
      return { ...expr, target: expr.target && copyExpr(expr.target), args: expr.args.map((arg) => copyExpr(arg)) };
    case "list":
      return { ...expr, elements: expr.elements.map((element) => copyExpr(element)) };
    case "map":
      return {
        ...expr,
        entries: expr.entries.map((entry) => ({ ...entry, key: copyExpr(entry.key), value: copyExpr(entry.value) })),
      };
    case "struct":
      return { ...expr, fields: expr.fields.map((field) => ({ ...field, value: copyExpr(field.value) })) };
    case "comprehension":
      return {
        ...expr,
        range: copyExpr(expr.range),
        accuInit: copyExpr(expr.accuInit),
        condition: copyExpr(expr.condition),
        step: copyExpr(expr.step),
        result: copyExpr(expr.result),
      };
    default:
      return { ...expr };
  }
}
