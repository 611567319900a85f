import type { Type } from "../values/types.ts";
import type { Value } from "../values/value.ts";

/** Common members of all nodes. `type` is set by the checker. */
interface Node {
  /** The start in the source. -1 if it has none. */
  readonly at: number;
  type?: Type;
}

/** A literal. */
export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Value;
}

/** A name. The checker replaces it by the full name, and sets `constant` if the name is a constant. */
export interface Ident extends Node {
  readonly kind: "ident";
  name: string;
  constant?: Value;
}

/** operand.field, or has(operand.field) with `test`. The checker sets `resolved` for a qualified name. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  readonly test: boolean;
  resolved?: Ident;
}

/** A call of a function or operator. The checker removes the target of a namespaced function. */
export interface Call extends Node {
  readonly kind: "call";
  name: string;
  target: Expr | undefined;
  readonly args: readonly Expr[];
  /** The ids of the overloads that the checker considers possible. */
  overloads?: readonly string[];
}

/** [a, b, ?c]. */
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  /** The indices of elements with a question mark. */
  readonly optional: ReadonlySet<number>;
}

/** An entry of a map literal. `at` is the position of its colon. */
export interface Entry {
  readonly at: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** {k: v, ?k: v}. */
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly Entry[];
}

/** A field of an object literal. `at` is the position of its colon. */
export interface FieldInit {
  readonly at: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/** Type{field: v}. */
export interface StructExpr extends Node {
  readonly kind: "struct";
  typeName: string;
  readonly fields: readonly FieldInit[];
}

/** The expansion of macros such as all(): a fold over a list or map. */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** A part that could not be parsed. */
export interface Broken extends Node {
  readonly kind: "broken";
}

/** An expression. */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension | Broken;

/** The names of operators, as in cel-go. */
export const operators = {
  conditional: "_?_:_",
  and: "_&&_",
  or: "_||_",
  not: "!_",
  negate: "-_",
  equals: "_==_",
  notEquals: "_!=_",
  less: "_<_",
  lessEquals: "_<=_",
  greater: "_>_",
  greaterEquals: "_>=_",
  add: "_+_",
  subtract: "_-_",
  multiply: "_*_",
  divide: "_/_",
  modulo: "_%_",
  index: "_[_]",
  in: "@in",
  notStrictlyFalse: "@not_strictly_false",
  optIndex: "_[?_]",
  optSelect: "_?._",
} as const;

/** The accumulator variable of macros. Source text cannot contain this name. */
export const ACCUMULATOR = "@result";

/** The direct children of an expression. */
export function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "comprehension":
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}
