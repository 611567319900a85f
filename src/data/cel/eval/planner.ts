import { UNLIMITED } from "../../../base/util/meter.ts";
import { comparison } from "../cost/runtime.ts";
import { LIST_CREATE, MAP_CREATE, STRUCT_CREATE } from "../cost/sizes.ts";
import type { Environment } from "../environment.ts";
import {
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  operators,
  type Select,
  type StructExpr,
} from "../parser/ast.ts";
import { compilePattern } from "../standard/regular-expressions.ts";
import { equality as equalityOf } from "../values/equality.ts";
import { formatValue } from "../values/format.ts";
import { EntryMap } from "../values/maps.ts";
import {
  ArrayList,
  CelError,
  Foreign,
  isError,
  ListValue,
  noSuchOverload,
  Optional,
  type Value,
} from "../values/value.ts";
import {
  attributeOf,
  attributePlan,
  conditionalPlan,
  constantPlan,
  type Plan,
  qualify,
  resolveIndex,
} from "./attribute.ts";
import { callRun, constantMembership } from "./calls.ts";
import { foldRun, readAccumulator } from "./fold.ts";
import { Frame, type Run } from "./frame.ts";
import { invalidKey, type Qualifier } from "./qualifier.ts";

/** A constant cannot be converted. cel-go reports this on program creation. */
export class PlanError extends Error {}

/** Functions that cel-go evaluates once if their argument is constant. */
const CONVERSIONS = new Set("bool bytes double dyn duration int string timestamp type uint".split(" "));

/** Functions whose second argument is a pattern, which is compiled once if it is constant: cel-go's OptimizeRegex. */
const PATTERN_FUNCTIONS = new Set(["matches", "find", "findAll"]);

/** Compiles a checked expression to closures. */
export class Planner {
  private readonly env: Environment;
  /** Visible comprehension variables, with their readers. */
  private readonly locals: { readonly name: string; readonly read: Run }[] = [];
  private localCount = 0;

  constructor(env: Environment) {
    this.env = env;
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case "literal":
        return constantPlan(expr.value);
      case "ident":
        if (expr.constant !== undefined) return constantPlan(expr.constant);
        // Compat: planCheckedIdent treats a variable of type `type` as the name of a type.
        if (expr.type?.kind === "type") throw new PlanError(`reference to undefined type: ${expr.name}`);
        return this.variable(expr.name);
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "struct":
        return { run: this.struct(expr) };
      case "comprehension":
        return { run: this.comprehension(expr) };
      default:
        throw new PlanError("broken expression");
    }
  }

  private variable(name: string): Plan {
    for (let i = this.locals.length - 1; i >= 0; i--) {
      const local = this.locals[i] as (typeof this.locals)[number];
      if (local.name === name) return attributePlan(attributeOf(local.read));
    }
    const global = name.replace(/^\./, "");
    const missing = new CelError(`no such attribute(s): ${global}`);
    const read: Run = (frame) => {
      const value = frame.activation(global);
      return value === undefined ? missing : value;
    };
    return attributePlan(attributeOf(read));
  }

  private select(expr: Select): Plan {
    if (expr.resolved !== undefined) return this.plan(expr.resolved);
    return qualify(this.plan(expr.operand), { key: expr.field, isOptional: false, isTest: expr.test });
  }

  private call(expr: Call): Plan {
    const args = (expr.target === undefined ? expr.args : [expr.target, ...expr.args]).map((arg) => this.plan(arg));
    const [first, second, third] = args as [Plan, Plan, Plan];
    switch (expr.name) {
      case operators.and:
        return { run: logical(first.run, second.run, false) };
      case operators.or:
        return { run: logical(first.run, second.run, true) };
      case operators.conditional:
        return conditionalPlan(first, second, third);
      case operators.equals:
        return { run: equality(first.run, second.run, true) };
      case operators.notEquals:
        return { run: equality(first.run, second.run, false) };
      case operators.notStrictlyFalse:
        return { run: notStrictlyFalse(first.run) };
      case operators.index:
        return qualify(first, this.indexOf(second, false));
      case operators.optIndex:
      case operators.optSelect:
        return qualify(first, this.indexOf(second, true));
      case "or":
        if (isOptionalCall(expr, "optional_or_optional")) return { run: optionalOr(first.run, second.run, false) };
        break;
      case "orValue":
        if (isOptionalCall(expr, "optional_orValue_value")) return { run: optionalOr(first.run, second.run, true) };
        break;
      default:
    }
    return this.declaredCall(expr, args);
  }

  private indexOf(index: Plan, isOptional: boolean): Qualifier {
    if (index.constant === undefined) return { compute: resolveIndex(index), isOptional };
    const refused = invalidKey(index.constant);
    if (refused !== undefined) throw new PlanError(refused.message);
    return { key: index.constant, isOptional };
  }

  private declaredCall(expr: Call, args: readonly Plan[]): Plan {
    const declared = this.env.findFunction(expr.name);
    if (declared === undefined) throw new PlanError(`no such overload: ${expr.name}`);
    const ids = expr.overloads ?? [];
    const [first, second] = args;
    if (expr.name === operators.in && ids.length === 1 && ids[0] === "in_list") {
      const list = second?.constant;
      if (list instanceof ListValue && list.size === 0) return constantPlan(false);
      const run = list instanceof ListValue ? constantMembership((first as Plan).run, list) : undefined;
      if (run !== undefined) return { run };
    }
    const pattern = PATTERN_FUNCTIONS.has(expr.name) ? second?.constant : undefined;
    if (typeof pattern === "string") {
      const compiled = compilePattern(pattern);
      if (compiled instanceof CelError) throw new PlanError(compiled.message);
    }
    const run = callRun(declared, ids, args);
    if (args.length !== 1 || first?.constant === undefined || !CONVERSIONS.has(expr.name)) return { run };
    const value = run(new Frame(() => undefined, Number.POSITIVE_INFINITY, UNLIMITED));
    if (isError(value)) throw new PlanError(value.message);
    return constantPlan(value);
  }

  private list(expr: ListExpr): Plan {
    const plans = expr.elements.map((element) => this.plan(element));
    const items = plans.map(({ run }) => run);
    const run: Run = (frame) => {
      const values: Value[] = [];
      for (let i = 0; i < items.length; i++) {
        let value = (items[i] as Run)(frame);
        if (value instanceof CelError) return charged(frame, LIST_CREATE, value);
        if (expr.optional.has(i)) {
          if (!(value instanceof Optional)) {
            const message = `cannot initialize optional list element from non-optional value ${formatValue(value)}`;
            return charged(frame, LIST_CREATE, new CelError(message));
          }
          if (value.value === undefined) continue;
          value = value.value;
        }
        values.push(value);
      }
      frame.charge(LIST_CREATE);
      return new ArrayList(values);
    };
    return plans.every(({ constant }) => constant !== undefined) ? constantPlan(run(unlimited())) : { run };
  }

  private map(expr: MapExpr): Plan {
    const entries = expr.entries.map(({ key, value, optional }) => {
      return { key: this.plan(key), value: this.plan(value), optional };
    });
    const run: Run = (frame) => {
      const map = new EntryMap();
      for (const entry of entries) {
        const key = entry.key.run(frame);
        if (key instanceof CelError) return charged(frame, MAP_CREATE, key);
        const value = entry.value.run(frame);
        if (value instanceof CelError) return charged(frame, MAP_CREATE, value);
        const failed = addEntry(map, key, value, entry.optional);
        if (failed !== undefined) return charged(frame, MAP_CREATE, failed);
      }
      frame.charge(MAP_CREATE);
      return map;
    };
    const isConstant = entries.every(({ key, value }) => key.constant !== undefined && value.constant !== undefined);
    return isConstant ? constantPlan(run(unlimited())) : { run };
  }

  private struct(expr: StructExpr): Run {
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, run: this.plan(value).run, optional }));
    const { types } = this.env;
    return (frame) => {
      const values = new Map<string, Value>();
      for (const { name, run, optional } of fields) {
        const value = run(frame);
        if (value instanceof CelError) return charged(frame, STRUCT_CREATE, value);
        if (!optional) values.set(name, value);
        else if (!(value instanceof Optional)) return charged(frame, STRUCT_CREATE, notOptional(name, value));
        else if (value.value !== undefined) values.set(name, value.value);
      }
      frame.charge(STRUCT_CREATE);
      return types?.create?.(expr.typeName, values) ?? new CelError(`unknown type '${expr.typeName}'`);
    };
  }

  private comprehension(expr: Comprehension): Run {
    const init = this.plan(expr.accuInit).run;
    const range = this.plan(expr.range).run;
    const accumulator = this.localCount++;
    const first = this.localCount++;
    const second = expr.iterVar2 === undefined ? -1 : this.localCount++;
    const { locals } = this;
    const outside = locals.length;
    locals.push({ name: expr.accuVar, read: readAccumulator(accumulator, init) });
    locals.push({ name: expr.iterVar, read: (frame) => frame.locals[first] as Value });
    if (expr.iterVar2 !== undefined) {
      locals.push({ name: expr.iterVar2, read: (frame) => frame.locals[second] as Value });
    }
    const condition = this.plan(expr.condition).run;
    const step = this.plan(expr.step).run;
    locals.length = outside + 1;
    const result = this.plan(expr.result).run;
    locals.length = outside;
    return foldRun({ range, init, condition, step, result, accumulator, first, second });
  }
}

const unlimited = () => new Frame(() => undefined, Number.POSITIVE_INFINITY, UNLIMITED);

function charged(frame: Frame, cost: number, value: Value): Value {
  frame.charge(cost);
  return value;
}

const isOptionalCall = (expr: Call, id: string) => {
  const ids = expr.overloads ?? [];
  return ids.length !== 1 || ids[0] === id;
};

function notOptional(name: string, value: Value): CelError {
  return new CelError(`cannot initialize optional entry '${name}' from non-optional value ${formatValue(value)}`);
}

function addEntry(map: EntryMap, key: Value, value: Value, isOptional: boolean): CelError | undefined {
  if (!isOptional) map.set(key, value);
  else if (!(value instanceof Optional)) return notOptional(formatValue(key), value);
  else if (value.value === undefined) map.delete(key);
  else map.set(key, value.value);
  return undefined;
}

/** && and ||: one decisive operand is enough, whatever the other is. Errors are reported otherwise. */
function logical(first: Run, second: Run, decisive: boolean): Run {
  return (frame) => {
    const a = first(frame);
    if (a === decisive) return decisive;
    const b = second(frame);
    if (b === decisive) return decisive;
    if (typeof a !== "boolean") return noSuchOverload(a);
    return typeof b === "boolean" ? !decisive : noSuchOverload(b);
  };
}

function equality(first: Run, second: Run, wanted: boolean): Run {
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    frame.charge(equalityCost(a, b, wanted));
    if (a instanceof CelError) return a;
    if (b instanceof CelError) return b;
    const result = equalityOf(a, b);
    // Compat: evalNe treats an error as a difference.
    return wanted ? result : result !== true;
  };
}

/** Compat: library.CostEstimator has cost 1 for `==` of values of Kubernetes' own types, but not for `!=`. */
function equalityCost(a: Value, b: Value, wanted: boolean): number {
  if ((typeof a === "number" && typeof b === "number") || (wanted && a instanceof Foreign)) return 1;
  return comparison([a, b]);
}

function notStrictlyFalse(arg: Run): Run {
  return (frame) => {
    const value = arg(frame);
    frame.charge(1);
    return value !== false;
  };
}

/** x.or(y) and x.orValue(y), which evaluate y only if x has no value and cost nothing themselves. */
function optionalOr(first: Run, second: Run, unwrap: boolean): Run {
  return (frame) => {
    const optional = first(frame);
    if (!(optional instanceof Optional)) return noSuchOverload(optional);
    if (optional.value === undefined) return second(frame);
    return unwrap ? optional.value : optional;
  };
}
