import { type Meter, UNLIMITED } from "../../base/util/meter.ts";
import { finish, type Steps } from "../../base/util/steps.ts";
import { check } from "./checker/checker.ts";
import { work } from "./cost/work.ts";
import type { Environment } from "./environment.ts";
import { type Activation, CostExceeded, Frame, type Run } from "./eval/frame.ts";
import { PlanError, Planner } from "./eval/planner.ts";
import type { Expr } from "./parser/ast.ts";
import { parse } from "./parser/parser.ts";
import type { SourceError } from "./parser/source.ts";
import { dynType, type Type } from "./values/types.ts";
import { CelError, InternalError, type Value } from "./values/value.ts";

/** A type-checked expression. */
export interface Checked {
  readonly expr: Expr;
  readonly type: Type;
}

/** The errors of an expression, as cel-go prints them. */
export class CompileError extends Error {}

/** Parses and checks an expression. */
export function compile(text: string, env: Environment): Checked | CompileError {
  return finish(compileSteps(text, env));
}

/** Like `compile`, in steps, because each takes a while for a text of 100,000 characters. */
export function* compileSteps(text: string, env: Environment): Steps<Checked | CompileError> {
  const { expr, source, errors } = parse(text, env.macros);
  yield;
  const found = errors.length > 0 ? errors : check(expr, env);
  yield;
  if (found.length > 0) return new CompileError(source.format(found));
  const refused: SourceError[] = [];
  for (const validate of env.validators) validate(expr, (at, message) => refused.push({ at, message }));
  if (refused.length > 0) return new CompileError(source.format(refused));
  return { expr, type: expr.type ?? dynType };
}

/** The result of an evaluation. */
export interface Result {
  /** A value, or the error of the evaluation. */
  readonly value: Value;
  readonly cost: number;
  /** Whether the cost limit was exceeded. */
  readonly isCostExceeded?: boolean;
}

/** An expression that can be evaluated repeatedly. */
export class Program {
  private readonly run: Run;

  constructor(run: Run) {
    this.run = run;
  }

  /** Evaluates the expression. A cost above the limit is an error. Throws TooCostly if the meter has less left. */
  evaluate(activation: Activation, limit: number = Number.POSITIVE_INFINITY, meter: Meter = UNLIMITED): Result {
    const frame = new Frame(activation, limit, meter);
    if (meter === UNLIMITED) return this.#result(frame);
    const { left } = work;
    work.left = meter.left;
    try {
      return this.#result(frame);
    } finally {
      // What an inner evaluation did counts for the outer one, too.
      const spent = frame.cost + meter.left - work.left;
      meter.left -= spent;
      work.left = left - spent;
    }
  }

  #result(frame: Frame): Result {
    try {
      return { value: this.run(frame), cost: frame.cost };
    } catch (error) {
      if (error instanceof InternalError) return { value: new CelError(error.message), cost: frame.cost };
      // A string that is longer than V8 allows: cel-go builds it and finds that it cost too much.
      const isOver = error instanceof CostExceeded || error instanceof RangeError;
      if (!isOver) throw error;
      return { value: new CelError(new CostExceeded().message), cost: frame.cost, isCostExceeded: true };
    }
  }
}

/** Creates a program from a checked expression. An error if a constant in it cannot be converted. */
export function program(checked: Checked, env: Environment): Program | CompileError {
  try {
    return new Program(new Planner(env).plan(checked.expr).run);
  } catch (error) {
    // cel-go panics for a constant map whose keys are bytes.
    if (error instanceof PlanError || error instanceof InternalError) return new CompileError(error.message);
    throw error;
  }
}
