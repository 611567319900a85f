import type { CallEstimate, CostNode, Estimator } from "../cost/sizes.ts";
import type { Expr } from "../parser/ast.ts";
import type { Macro } from "../parser/macro.ts";
import type { Type } from "../values/types.ts";
import type { Value } from "../values/value.ts";

/**
 * An overload of a function: argument types, with the target of a member function first, and its implementation. If an
 * argument is an error, the call returns that error. If arguments do not have these types at run time, it returns "no
 * such overload". `call` is not reached in either case.
 */
export interface Overload {
  /** The upstream id, which cost functions and messages use. */
  readonly id: string;
  readonly args: readonly Type[];
  readonly result: Type;
  /** The number of type parameters, set by the environment. Omitted: none. */
  readonly parameters?: number;
  /** Whether it is called as target.name(…). */
  readonly isMember?: boolean;
  /** Omitted if the function has a `call` for all overloads. */
  readonly call?: Implementation;
  /** The cost of a call at run time. Default: 1. */
  readonly cost?: RuntimeCost;
  /** The estimated cost of a call and size of its result. Default: 1 and unknown. */
  readonly estimate?: StaticCost;
}

/** Implements an overload. Returns a `CelError` on failure. */
export type Implementation = (...args: readonly never[]) => Value;

/** The cost of a call with these arguments, the target first, and this result. */
export type RuntimeCost = (args: readonly Value[], result: Value) => number;

/** Estimates a call. Undefined: use the rules of the language. Costs of arguments are added. */
export type StaticCost = (
  estimator: Estimator,
  target: CostNode | undefined,
  args: readonly CostNode[],
) => CallEstimate | undefined;

/** A function with all its overloads. Several libraries may declare overloads of one function. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, which checks the types itself. */
  readonly call?: Implementation;
  /**
   * The index of the argument that is a regular expression. If it is constant, the call costs nothing if another
   * argument is an error, because cel-go's RegexOptimization creates another type of call.
   */
  readonly pattern?: number;
  /** Binds a constant pattern. Returns a function of the other argument. */
  readonly bindPattern?: (pattern: string) => (text: Value) => Value;
  /** The cost of a call if its overload has none, or is determined only at run time. */
  readonly cost?: RuntimeCost;
  /** The estimate for overloads without their own. */
  readonly estimate?: StaticCost;
}

/** The name of a type or another constant. */
export interface Constant {
  readonly name: string;
  readonly type: Type;
  readonly value: Value;
}

/** An extension of an environment. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  readonly constants?: readonly Constant[];
  /**
   * Additional validations of a checked expression, such as literals that cannot be converted: cel-go's ASTValidators.
   */
  readonly validators?: readonly Validator[];
}

/** Validates a well-typed expression. */
export type Validator = (expr: Expr, report: (at: number, message: string) => void) => void;
