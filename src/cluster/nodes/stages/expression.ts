import type { Json, KubeObject } from "../../../base/api/object.ts";
import { readDuration } from "../../../base/go/duration.ts";
import { type Meter, TooCostly } from "../../../base/util/meter.ts";
import { Duration, type Value } from "../../../data/cel/values/value.ts";
import { type KwokCel, numberOf } from "../kwok/cel.ts";
import { compileJq, type Filter } from "./jq.ts";
import type { ExpressionFrom, MatchExpression } from "./stage-types.ts";

/** Whether an object matches. Throws TooCostly if the meter has too little left. */
export type ObjectTest = (object: KubeObject, meter: Meter) => boolean;

/** A value that is computed from an object. Undefined: `otherwise` applies. Throws TooCostly. */
export type ObjectValue<T> = (object: KubeObject, meter: Meter) => T | undefined;

/** Compiles an expression of a selector. Throws if it is malformed or not supported. */
export function compileTest(expression: MatchExpression, cel: KwokCel): ObjectTest {
  if (expression.cel) return celTest(expression.cel.expression, cel);
  const { key, operator, values = [] } = expression.jq ?? expression;
  if (key === undefined) throw new Error("invalid expression");
  const query = compileJq(key);
  const isIn = (found: readonly Json[]) =>
    found.some((value) => typeof value !== "object" && values.includes(`${value}`));
  const tests: Readonly<Record<string, (found: readonly Json[]) => boolean>> = {
    In: isIn,
    NotIn: (found) => !isIn(found),
    Exists: (found) => found.length > 0,
    DoesNotExist: (found) => found.length === 0,
  };
  const test = Object.hasOwn(tests, operator ?? "") ? tests[operator ?? ""] : undefined;
  if (test === undefined) throw new Error(`operator "${operator}" is not supported`);
  return (object, meter) => test(outputs(query, object, meter));
}

/** An error of an evaluation means that the object does not match. */
function celTest(text: string | undefined, cel: KwokCel): ObjectTest {
  const evaluate = cel.compile(text ?? "");
  return (object, meter) => unlessFailed(() => evaluate({ self: object }, meter)) === true;
}

/** Compiles the expression of a weight. Null if it yields no integer. */
export function compileWeight(from: ExpressionFrom | undefined, cel: KwokCel): ObjectValue<number | null> {
  return compileFrom(from, cel, {
    jq: (found) => {
      if (typeof found === "number") return Math.trunc(found);
      return typeof found === "string" ? (/^[+-]?\d+$/.test(found) ? Number(found) : null) : undefined;
    },
    cel: (value) => Math.trunc(numberOf(value)),
  });
}

/** Compiles the expression of a span in milliseconds. Null: no span, and no jitter either. */
export function compileSpan(
  from: ExpressionFrom | undefined,
  cel: KwokCel,
): (object: KubeObject, nowMs: number, meter: Meter) => number | null | undefined {
  const evaluate = compileFrom<Json | Duration>(from, cel, {
    jq: (found) => found,
    cel: (value) => (value instanceof Duration ? value : typeof value === "string" ? value : numberOf(value) / 1e6),
  });
  return (object, nowMs, meter) => {
    const found = evaluate(object, meter);
    if (found === "") return null;
    if (found instanceof Duration) return Number(found.nanos) / 1e6;
    if (typeof found === "number" && from?.cel) return found;
    return typeof found === "string" ? spanOf(found, nowMs) : undefined;
  };
}

/** A duration such as `5s`, or the time until a timestamp. */
function spanOf(text: string, nowMs: number): number | undefined {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const span = Date.parse(text) - nowMs;
    return Number.isNaN(span) ? undefined : span;
  }
  const nanoseconds = readDuration(text);
  return typeof nanoseconds === "string" ? undefined : Number(nanoseconds) / 1e6;
}

interface Readers<T> {
  readonly jq: (found: Json) => T | undefined;
  readonly cel: (value: Value) => T | undefined;
}

function compileFrom<T>(from: ExpressionFrom | undefined, cel: KwokCel, readers: Readers<T>): ObjectValue<T> {
  if (from === undefined) return () => undefined;
  if (from.cel) {
    const evaluate = cel.compile(from.cel.expression ?? "");
    return (object, meter) => unlessFailed(() => readers.cel(evaluate({ self: object }, meter)));
  }
  const source = from.expressionFrom ?? from.jq?.expression ?? from.jq?.expressionFrom;
  if (source === undefined) throw new Error("invalid expression");
  const query = compileJq(source);
  return (object, meter) => {
    const [found] = outputs(query, object, meter);
    return found === undefined ? undefined : readers.jq(found);
  };
}

/** Outputs that are not null. None if the expression fails. */
function outputs(query: Filter, object: KubeObject, meter: Meter): Json[] {
  return unlessFailed(() => query(object, meter))?.filter((value) => value !== null) ?? [];
}

function unlessFailed<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof TooCostly) throw error;
    return undefined;
  }
}
