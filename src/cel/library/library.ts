import type { CallEstimate, CostNode, Estimator } from "../cost/sizes.ts";
import type { Expr } from "../parser/ast.ts";
import type { Macro } from "../parser/macro.ts";
import type { Type } from "../values/types.ts";
import type { Value } from "../values/value.ts";

/**
 * One way to call a function: types of arguments, the target of a member function first, and what it does.
 * A call whose arguments do not have these types at run time ends with "no such overload" before `call` is reached,
 * and so does one with an error as argument, with that error.
 */
export interface Overload {
  /** As upstream names it; cost functions and messages use it. */
  readonly id: string;
  readonly args: readonly Type[];
  readonly result: Type;
  /** How many type parameters these have; an environment counts them. Absent: none. */
  readonly parameters?: number;
  /** Called as target.name(…). */
  readonly isMember?: boolean;
  /** Absent in overloads of functions with a `call` of their own. */
  readonly call?: Implementation;
  /** What a call costs at run time, if that is not 1. */
  readonly cost?: RuntimeCost;
  /** What a call may cost, and how long its result may be, if that is not 1 and unknown. */
  readonly estimate?: StaticCost;
}

/** Takes and yields values; what fails is a `CelError`. */
export type Implementation = (...args: readonly never[]) => Value;

/** The cost of a call with these arguments, the target first, that had this result. */
export type RuntimeCost = (args: readonly Value[], result: Value) => number;

/** The estimate for a call; undefined leaves it to the rules of the language. Costs of arguments are added to it. */
export type StaticCost = (
  estimator: Estimator,
  target: CostNode | undefined,
  args: readonly CostNode[],
) => CallEstimate | undefined;

/** A function with all its overloads. Several libraries may declare overloads of one function. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, which looks at the types itself. */
  readonly call?: Implementation;
  /**
   * The place of the argument that is a regular expression. With a constant there the call costs nothing if another
   * argument is an error: cel-go's RegexOptimization makes another kind of call of it.
   */
  readonly pattern?: number;
  /** Makes of a constant pattern what takes the other argument. */
  readonly bindPattern?: (pattern: string) => (text: Value) => Value;
  /** What a call costs if its overload does not say so, or is found only at run time. */
  readonly cost?: RuntimeCost;
  /** The estimate for overloads without one of their own. */
  readonly estimate?: StaticCost;
}

/** A name that stands for a type or another constant. */
export interface Constant {
  readonly name: string;
  readonly type: Type;
  readonly value: Value;
}

/** What an environment can be extended by. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  readonly constants?: readonly Constant[];
  /** Looks at a checked expression once more, as cel-go's ASTValidators do: literals that cannot be converted. */
  readonly validators?: readonly Validator[];
}

/** Refuses an expression that is well-typed. */
export type Validator = (expr: Expr, report: (at: number, message: string) => void) => void;
