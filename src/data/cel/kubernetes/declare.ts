import type { FunctionDeclaration, Implementation, Overload } from "../standard/library.ts";
import type { Type } from "../values/types.ts";
import { callCost, callEstimate } from "./costs.ts";

/** An overload called as name(…). */
export const global = (id: string, args: readonly Type[], result: Type, call: Implementation): Overload => ({
  id,
  args,
  result,
  call,
});

/** An overload called as target.name(…). */
export const member = (id: string, args: readonly Type[], result: Type, call: Implementation): Overload => ({
  ...global(id, args, result, call),
  isMember: true,
});

/** Declares a function with the costs of Kubernetes' CostEstimator for its name. */
export const declare = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration =>
  declareAll(name, overloads);

/** Like `declare`, with a list of overloads. */
export function declareAll(name: string, overloads: readonly Overload[]): FunctionDeclaration {
  const cost = callCost(name);
  const estimate = callEstimate(name);
  return { name, overloads, ...(cost && { cost }), ...(estimate && { estimate }) };
}
