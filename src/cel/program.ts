import { finish, type Steps } from "../lib/steps.ts";
import { check } from "./checker/checker.ts";
import type { Environment } from "./environment.ts";
import { type Activation, CostExceeded, Frame, type Run } from "./eval/frame.ts";
import { PlanError, Planner } from "./eval/planner.ts";
import type { Expr } from "./parser/ast.ts";
import { parse } from "./parser/parser.ts";
import type { SourceError } from "./parser/source.ts";
import { dynType, type Type } from "./values/types.ts";
import { CelError, InternalError, type Value } from "./values/value.ts";

/** An expression that fits its environment. */
export interface Checked {
  readonly expr: Expr;
  readonly type: Type;
}

/** Why an expression is refused: all errors, as cel-go prints them. */
export class CompileError extends Error {}

/** Parses and checks an expression. */
export function compile(text: string, env: Environment): Checked | CompileError {
  return finish(compileSteps(text, env));
}

/** The same in steps: with a text of 100,000 characters each of them takes a while. */
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

/** What an evaluation yields. */
export interface Result {
  /** A value, or the error that ended the evaluation. */
  readonly value: Value;
  readonly cost: number;
  /** Whether it ended because of its cost. */
  readonly isCostExceeded?: boolean;
}

/** An expression that can be evaluated again and again. */
export class Program {
  private readonly run: Run;

  constructor(run: Run) {
    this.run = run;
  }

  /** Evaluates; a cost above the limit is an error. */
  evaluate(activation: Activation, limit: number = Number.POSITIVE_INFINITY): Result {
    const frame = new Frame(activation, limit);
    try {
      return { value: this.run(frame), cost: frame.cost };
    } catch (error) {
      if (error instanceof InternalError) return { value: new CelError(error.message), cost: frame.cost };
      if (!(error instanceof CostExceeded)) throw error;
      return { value: new CelError(error.message), cost: frame.cost, isCostExceeded: true };
    }
  }
}

/** Makes a program of a checked expression; an error if a constant in it cannot be converted. */
export function program(checked: Checked, env: Environment): Program | CompileError {
  try {
    return new Program(new Planner(env).plan(checked.expr).run);
  } catch (error) {
    // cel-go panics at a constant map whose keys are bytes.
    if (error instanceof PlanError || error instanceof InternalError) return new CompileError(error.message);
    throw error;
  }
}
