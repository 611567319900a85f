import type { FunctionDeclaration, Implementation, Overload, RuntimeCost } from "../standard/library.ts";
import { itemsOf } from "../values/lists.ts";
import { integerOf } from "../values/maps.ts";
import type { Type } from "../values/types.ts";
import {
  CelError,
  Double,
  isError,
  ListValue,
  MapValue,
  NO_SUCH_OVERLOAD,
  requireHashable,
  typeOfValue,
  type Value,
} from "../values/value.ts";
import type { Plan } from "./attribute.ts";
import type { Run } from "./frame.ts";

type Apply = (args: readonly Value[]) => Value;

/** Calls an implementation with its number of arguments, at most five. */
function invoke(call: Implementation, args: readonly Value[]): Value {
  const [a, b, c, d, e] = args as never[] as [never, never, never, never, never];
  switch (args.length) {
    case 0:
      return call();
    case 1:
      return call(a);
    case 2:
      return call(a, b);
    case 3:
      return call(a, b, c);
    default:
      return call(a, b, c, d, e);
  }
}

/** A call of a declared function. The checker has narrowed its overloads down to `ids`. */
export function callRun(declared: FunctionDeclaration, ids: readonly string[], args: readonly Plan[]): Run {
  const candidates = declared.overloads.filter(({ id }) => ids.includes(id));
  const { call } = declared;
  const apply: Apply = call === undefined ? dispatch(declared, candidates) : (values) => invoke(call, values);
  // Compat: if there are several overloads, cel-go's CostTracker only has the function name.
  const cost = (candidates.length === 1 ? candidates[0]?.cost : undefined) ?? declared.cost;
  const runs = args.map(({ run }) => run);
  // The costs of patterns depend on the arguments only.
  const foreseen = declared.pattern === undefined ? undefined : cost;
  const hasPattern = declared.pattern !== undefined && typeof args[declared.pattern]?.constant === "string";
  if (hasPattern && declared.bindPattern !== undefined) {
    const bound = declared.bindPattern(String(args[1]?.constant));
    return variadic(runs, ([text]) => bound(text as Value), cost, foreseen);
  }
  if (hasPattern) {
    const isTyped = (values: readonly Value[]) => candidates.some((overload) => fits(overload, values));
    return variadic(runs, (values) => (isTyped(values) ? apply(values) : NO_SUCH_OVERLOAD), cost, foreseen);
  }
  // Compat: planCall creates an evalVarArgs for a call that is dispatched among several overloads.
  if (foreseen || (call === undefined && candidates.length !== 1)) return variadic(runs, apply, cost, foreseen);
  switch (runs.length) {
    case 1:
      return unary(runs[0] as Run, apply, cost);
    case 2:
      return binary(runs[0] as Run, runs[1] as Run, apply, cost);
    default:
      return variadic(runs, apply, cost);
  }
}

function unary(arg: Run, apply: Apply, cost: RuntimeCost | undefined): Run {
  return (frame) => {
    const value = arg(frame);
    const values = [value];
    const result = isError(value) ? value : apply(values);
    frame.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}

function binary(first: Run, second: Run, apply: Apply, cost: RuntimeCost | undefined): Run {
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    const values = [a, b];
    const result = a instanceof CelError ? a : b instanceof CelError ? b : apply(values);
    frame.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}

function variadic(
  runs: readonly Run[],
  apply: Apply,
  cost: RuntimeCost | undefined,
  foreseen?: RuntimeCost | undefined,
): Run {
  return (frame) => {
    const values: Value[] = [];
    let failed: CelError | undefined;
    for (const run of runs) {
      // The call costs nothing if an argument is not evaluated any more.
      if (failed !== undefined) return failed;
      const value = run(frame);
      if (value instanceof CelError) failed = value;
      values.push(value);
    }
    if (foreseen !== undefined && failed === undefined) frame.foresee(foreseen(values, null));
    const result = failed ?? apply(values);
    frame.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}

/** Calls the first overload that matches the types of the arguments. */
function dispatch(declared: FunctionDeclaration, candidates: readonly Overload[]): Apply {
  const [only] = candidates;
  if (candidates.length === 1 && only?.call !== undefined) {
    const { call } = only;
    return (args) => (fits(only, args) ? invoke(call, args) : noOverload(declared.name, args));
  }
  return (args) => {
    const found = declared.overloads.find((overload) => overload.call !== undefined && fits(overload, args));
    return found?.call === undefined ? noOverload(declared.name, args) : invoke(found.call, args);
  };
}

const fits = (overload: Overload, args: readonly Value[]) =>
  overload.args.length === args.length && overload.args.every((type, i) => hasType(args[i] as Value, type));

/** Whether a value has a declared type, judged by its first element: cel-go's IsAssignableRuntimeType. */
export function hasType(value: Value, type: Type): boolean {
  if (type.kind === "dyn" || type.kind === "param") return true;
  if (value instanceof ListValue && type.kind === "list") {
    return value.size === 0 || hasType(value.at(0), type.params[0] as Type);
  }
  if (value instanceof MapValue && type.kind === "map") {
    for (const key of value.keys()) {
      return hasType(key, type.params[0] as Type) && hasType(value.find(key) as Value, type.params[1] as Type);
    }
    return true;
  }
  return typeOfValue(value).name === type.name;
}

function noOverload(name: string, args: readonly Value[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map((arg) => typeOfValue(arg).name).join(", ")})`);
}

/** Looks up an element in a list of constants. Undefined if the list does not allow a lookup. */
export function constantMembership(element: Run, list: ListValue): Run | undefined {
  const known = new Set<string | number | bigint | boolean>();
  for (const item of itemsOf(list)) {
    const key = memberKey(item);
    if (key === undefined) return undefined;
    known.add(key);
  }
  return (frame) => {
    const value = element(frame);
    if (value instanceof CelError) return value;
    // Compat: evalSetMembership looks it up in a Go map.
    requireHashable(value);
    const key = memberKey(value);
    return key !== undefined && known.has(key);
  };
}

function memberKey(value: Value): string | number | bigint | boolean | undefined {
  return typeof value === "number" || typeof value === "string" || typeof value === "boolean"
    ? value
    : // NaN is not found in any list.
      value instanceof Double && !Number.isInteger(value.value) && !Number.isNaN(value.value)
      ? value.value
      : integerOf(value);
}
