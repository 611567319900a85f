import type { CompiledExpression, PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import { RETURNS } from "../../../data/cel/policies/returns.ts";
import type { PolicySpec } from "../../../kinds/types/admission-registration.ts";
import { aggregate } from "../matching/conditions.ts";
import { Evaluation, OutOfBudget, type PolicyInputs } from "./evaluation.ts";

/** Compat: `RuntimeCELCostBudgetMatchConditions`. */
const BUDGET = 2_500_000;

/** Whether a policy is evaluated. Upstream: `matchconditions.MatchResult`. */
interface Matched {
  readonly matches: boolean;
  /** Set if the request must fail. */
  readonly error?: string;
}

/** `matchConditions` of a policy. Upstream: `matchconditions.Matcher`, with variables and params. */
export interface PolicyConditions {
  /** A false condition takes precedence over one that fails. */
  match(inputs: PolicyInputs): Matched;
}

/** Compiles the conditions of a policy. Undefined if there are none. */
export function compileConditions(spec: PolicySpec, compiler: PolicyCompiler): PolicyConditions | undefined {
  const { matchConditions = [], paramKind, failurePolicy } = spec;
  if (matchConditions.length === 0) return undefined;
  const scope = { params: paramKind !== undefined, authorizer: true };
  const compiled = matchConditions.map(({ expression = "" }) => compiler.compile(expression, RETURNS.condition, scope));
  const failed = (text: string): Matched =>
    failurePolicy === "Ignore" ? { matches: false } : { matches: false, error: text };
  return {
    match(inputs) {
      try {
        const { isFalse, errors } = evaluateAll(compiled, inputs, compiler);
        if (isFalse) return { matches: false };
        return errors.length === 0 ? { matches: true } : failed(aggregate(errors));
      } catch (error) {
        if (error instanceof OutOfBudget) return failed(error.message);
        throw error;
      }
    },
  };
}

/** Compat: `Matcher.Match` passes no namespace, so that namespaceObject is null in conditions. */
function evaluateAll(compiled: readonly CompiledExpression[], inputs: PolicyInputs, compiler: PolicyCompiler) {
  const { plain: _, ...others } = inputs;
  const seen = { ...others, namespaceObject: () => null, request: inputs.ownRequest };
  const evaluation = new Evaluation(seen, compiler.variables, BUDGET);
  const errors: string[] = [];
  let isFalse = false;
  for (const expression of compiled) {
    const result = evaluation.evaluate(expression);
    if (result.error !== undefined) errors.push(result.error);
    else if (result.value === false) isFalse = true;
  }
  return { isFalse, errors };
}
