import type { Environment } from "../environment.ts";
import { ACCUMULATOR, type Call, type Comprehension, type Expr, type Ident, type Select } from "../parser/ast.ts";
import type { Overload } from "../standard/library.ts";
import { dynType, type Type } from "../values/types.ts";
import { type EntrySizes, Locals, literalSize, typeSize } from "./locals.ts";
import {
  type CallEstimate,
  type CostNode,
  type Estimator,
  fixed,
  LIST_CREATE,
  MAP_CREATE,
  plus,
  type Range,
  type SizeEstimator,
  STRUCT_CREATE,
  times,
  UNBOUNDED,
  UNKNOWN,
  union,
} from "./sizes.ts";
import { standardEstimate } from "./standard.ts";

/** Estimates the minimum and maximum cost of a checked expression: cel-go's checker.Cost. */
export function estimateCost(expr: Expr, env: Environment, sizes: SizeEstimator = () => undefined): Range {
  return new Coster(env, sizes).cost(expr);
}

const ZERO = fixed(0);
const ONE = fixed(1);
/** The neutral element of `union`. */
const NOTHING: Range = { min: UNBOUNDED, max: 0 };

const typeIn = (expr: Expr): Type => expr.type ?? dynType;

class Coster implements Estimator {
  private readonly env: Environment;
  private readonly sizes: SizeEstimator;
  private readonly locals = new Locals();
  private readonly paths = new Map<Expr, readonly string[]>();
  private readonly computed = new Map<Expr, Range>();
  private readonly entries = new Map<Expr, EntrySizes>();

  constructor(env: Environment, sizes: SizeEstimator) {
    this.env = env;
    this.sizes = sizes;
  }

  sizeOf(node: CostNode): Range {
    return node.size ?? this.sizes(node) ?? UNKNOWN;
  }

  elementsOf(list: CostNode): CostNode | undefined {
    const type = list.type.params[0];
    return type && { type, path: list.path && [...list.path, "@items"], expr: undefined, size: undefined };
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "ident":
        return this.identCost(expr, expr);
      case "select":
        return expr.resolved === undefined ? this.selectCost(expr) : this.identCost(expr, expr.resolved);
      case "call":
        return this.callCost(expr);
      case "list":
        return this.listCost(expr, expr.elements);
      case "map":
        return this.mapCost(expr, expr.entries);
      case "struct":
        return expr.fields.reduce((sum, { value }) => plus(sum, this.cost(value)), fixed(STRUCT_CREATE));
      case "comprehension":
        return isBind(expr) ? this.bindCost(expr) : this.foldCost(expr);
      default:
        return ZERO;
    }
  }

  private identCost(expr: Expr, { name }: Ident): Range {
    this.paths.set(expr, this.locals.find(name)?.path ?? [name]);
    return ONE;
  }

  private selectCost(expr: Select): Range {
    const operand = this.cost(expr.operand);
    // Compat: with PresenceTestHasCost(false), as Kubernetes has it, has() itself costs nothing.
    if (expr.test) return operand;
    this.paths.set(expr, [...this.pathOf(expr.operand), expr.field]);
    const { kind } = typeIn(expr.operand);
    return kind === "map" || kind === "struct" || kind === "param" ? plus(operand, ONE) : operand;
  }

  private listCost(expr: Expr, elements: readonly Expr[]): Range {
    let sum = fixed(LIST_CREATE);
    let value: Range = elements.length === 0 ? ZERO : NOTHING;
    for (const element of elements) {
      sum = plus(sum, this.cost(element));
      value = union(value, this.sizeOfExpr(element) ?? UNKNOWN);
    }
    this.entries.set(expr, { kind: "list", key: ONE, value });
    return sum;
  }

  private mapCost(expr: Expr, entries: readonly { readonly key: Expr; readonly value: Expr }[]): Range {
    let sum = fixed(MAP_CREATE);
    let key: Range = entries.length === 0 ? ZERO : NOTHING;
    let value = key;
    for (const entry of entries) {
      sum = plus(plus(sum, this.cost(entry.key)), this.cost(entry.value));
      key = union(key, this.sizeOfExpr(entry.key) ?? UNKNOWN);
      value = union(value, this.sizeOfExpr(entry.value) ?? UNKNOWN);
    }
    this.entries.set(expr, { kind: "map", key, value });
    return sum;
  }

  private callCost(expr: Call): Range {
    if (expr.name === "dyn" && expr.target === undefined) return this.dynCost(expr, expr.args[0] as Expr);
    const costs = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.nodeOf(arg));
    const ids = expr.overloads ?? [];
    if (ids.length === 0) return ZERO;
    let before = ZERO;
    let target: CostNode | undefined;
    if (expr.target !== undefined) {
      before = this.cost(expr.target);
      target = this.nodeOf(expr.target);
    }
    let cost = NOTHING;
    let size: Range | undefined;
    for (const id of ids) {
      const estimate = this.overloadCost(expr, id, target, args, costs);
      cost = union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      const step = id === "index_list" ? "@items" : id === "index_map" ? "@values" : undefined;
      if (step !== undefined) {
        const container = expr.args[0] as Expr;
        size = this.entriesOf(container)?.value;
        this.paths.set(expr, [...this.pathOf(container), step]);
      }
      size ??= this.sizeOfExpr(expr);
    }
    if (size !== undefined) this.computed.set(expr, size);
    return plus(before, cost);
  }

  /** dyn() only disables type checking, so the sizes stay known. */
  private dynCost(expr: Call, arg: Expr): Range {
    const cost = this.cost(arg);
    this.copySizes(expr, arg);
    return plus(ONE, cost);
  }

  /** The cost of one overload with its arguments. */
  private overloadCost(
    expr: Call,
    id: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    costs: readonly Range[],
  ): CallEstimate {
    const declared = this.env.findFunction(expr.name);
    const overload: Overload | undefined = declared?.overloads.find((known) => known.id === id);
    const estimate = overload?.estimate?.(this, target, args) ?? declared?.estimate?.(this, target, args);
    if (estimate === undefined && (id === "logical_and" || id === "logical_or")) {
      const [first, second] = costs as [Range, Range];
      return { cost: { min: first.min, max: plus(first, second).max } };
    }
    if (estimate === undefined && id === "conditional") return this.conditionalCost(expr, args, costs);
    if (estimate === undefined && id.startsWith("add_")) this.joinEntries(expr);
    const found = estimate ?? standardEstimate(id, target, args) ?? { cost: ONE };
    return { ...found, cost: costs.reduce(plus, found.cost) };
  }

  private conditionalCost(expr: Call, args: readonly CostNode[], costs: readonly Range[]): CallEstimate {
    const [condition, whenTrue, whenFalse] = costs as [Range, Range, Range];
    this.joinEntries(expr, 1);
    return {
      cost: plus(condition, union(whenTrue, whenFalse)),
      size: union(args[1]?.size ?? UNKNOWN, args[2]?.size ?? UNKNOWN),
    };
  }

  /** The result of joining two containers has entries as large as theirs. */
  private joinEntries(expr: Call, first = 0): void {
    const a = this.entriesOf(expr.args[first] as Expr);
    const b = this.entriesOf(expr.args[first + 1] as Expr);
    if (a === undefined || b === undefined) return;
    this.entries.set(expr, { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  private foldCost(expr: Comprehension): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.accuInit));
    const { locals } = this;
    const outside = locals.depth;
    locals.push(expr.accuVar, {
      path: this.pathOf(expr.accuInit),
      size: this.sizeOfExpr(expr.accuInit),
      entries: this.entriesOf(expr.accuInit),
    });
    const inner = locals.depth;
    this.pushIterated(expr);
    const each = plus(this.cost(expr.step), this.cost(expr.condition));
    locals.cut(inner);
    sum = plus(sum, this.cost(expr.result));
    locals.cut(outside);
    const count = this.sizeOfExpr(expr.range) ?? UNKNOWN;
    sum = plus(sum, times(count, each));
    const { kind } = expr.accuInit;
    if (kind === "literal") this.computed.set(expr, this.sizeOfExpr(expr.accuInit) ?? UNKNOWN);
    else if (kind === "list" || kind === "map") {
      this.computed.set(expr, count);
      const entries = this.entriesOf(expr.step);
      if (entries !== undefined) this.entries.set(expr, entries);
    }
    return sum;
  }

  private pushIterated(expr: Comprehension): void {
    const entries = this.entriesOf(expr.range);
    const isList = (entries?.kind ?? typeIn(expr.range).kind) === "list";
    const path = this.pathOf(expr.range);
    const value = { path: [...path, isList ? "@items" : "@values"], size: entries?.value };
    if (expr.iterVar2 === undefined) {
      const key = { path: [...path, "@keys"], size: entries?.key };
      this.locals.push(expr.iterVar, isList ? value : key);
    } else {
      this.locals.push(expr.iterVar, { path: [...path, isList ? "@indices" : "@keys"], size: entries?.key });
      this.locals.push(expr.iterVar2, value);
    }
  }

  private bindCost(expr: Comprehension): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.accuInit));
    const outside = this.locals.depth;
    this.locals.push(expr.accuVar, {
      path: this.pathOf(expr.accuInit),
      size: this.sizeOfExpr(expr.accuInit),
      entries: this.entriesOf(expr.accuInit),
    });
    sum = plus(sum, this.cost(expr.result));
    this.locals.cut(outside);
    this.copySizes(expr, expr.result);
    return sum;
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.sizeOfExpr(from);
    if (size !== undefined) this.computed.set(to, size);
    const entries = this.entriesOf(from);
    if (entries !== undefined) this.entries.set(to, entries);
  }

  private nodeOf(expr: Expr): CostNode {
    const path = this.pathOf(expr);
    const size = this.sizeOfExpr(expr);
    return { type: typeIn(expr), path: path.length === 0 || path[0] === ACCUMULATOR ? undefined : path, expr, size };
  }

  private pathOf(expr: Expr): readonly string[] {
    const local = expr.kind === "ident" ? this.locals.find(expr.name)?.path : undefined;
    return local ?? this.paths.get(expr) ?? [];
  }

  private sizeOfExpr(expr: Expr): Range | undefined {
    const known = this.computed.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const estimate = this.sizes({ expr, path: this.pathOf(expr), type: typeIn(expr) });
    if (estimate !== undefined) {
      this.computed.set(expr, estimate);
      return estimate;
    }
    const local = expr.kind === "ident" ? this.locals.find(expr.name)?.size : undefined;
    return typeSize(typeIn(expr)) ?? local;
  }

  private entriesOf(expr: Expr): EntrySizes | undefined {
    const local = expr.kind === "ident" ? this.locals.find(expr.name)?.entries : undefined;
    return this.entries.get(expr) ?? local;
  }
}

/** Whether the comprehension is an empty fold that only binds a variable, like cel.bind() creates it. */
function isBind({ range, condition, accuVar }: Comprehension): boolean {
  return (
    range.kind === "list" &&
    range.elements.length === 0 &&
    condition.kind === "literal" &&
    condition.value === false &&
    accuVar !== ACCUMULATOR
  );
}
