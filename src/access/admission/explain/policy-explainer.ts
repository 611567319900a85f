import type { ExplainedExpression } from "../../../base/api/admission-trace.ts";
import { PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import type { Mutation, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import type { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { Evaluation, OutOfBudget, type PolicyInputs } from "../policies/evaluation.ts";
import { type Evaluate, explainExpression } from "./explain-expression.ts";

/** Cost budget of each expression, independent of the ones before it. */
const BUDGET = 10_000_000;

/**
 * Explains the results and inputs of a policy's expressions for a request. It compiles and evaluates them once more,
 * with the same inputs and results, so requests without explanation cost nothing.
 */
export class PolicyExplainer {
  readonly #spec: PolicySpec;
  readonly #answers: AuthorizerAnswers;
  readonly #compiler = new PolicyCompiler(true);
  readonly #scope: Parameters<PolicyCompiler["compile"]>[2];

  constructor(spec: PolicySpec, answers: AuthorizerAnswers) {
    this.#spec = spec;
    this.#answers = answers;
    this.#scope = { params: spec.paramKind !== undefined, authorizer: true, patchTypes: true };
    for (const { name = "", expression = "" } of spec.variables ?? []) {
      this.#compiler.addVariable(name, expression, this.#scope);
    }
  }

  /** Explains the match conditions. Compat: like `Matcher.Match`, uses the resource of the request and no namespace. */
  async conditions(inputs: PolicyInputs): Promise<ExplainedExpression[]> {
    const evaluate = this.#with({ ...inputs, namespaceObject: () => null, request: inputs.ownRequest });
    const explained: ExplainedExpression[] = [];
    for (const { name, expression = "" } of this.#spec.matchConditions ?? []) {
      explained.push(await explainExpression({ role: "matchCondition", name, expression }, evaluate));
    }
    return explained;
  }

  /**
   * Explains all expressions of a ValidatingAdmissionPolicy. Stops after the match conditions if one of them is not
   * true.
   */
  async validations(inputs: PolicyInputs): Promise<ExplainedExpression[]> {
    const explained = await this.conditions(inputs);
    if (explained.some(({ result }) => result !== true)) return explained;
    const { authorizer: _, ...quietInputs } = inputs;
    const evaluate = this.#with(inputs);
    const quietly = this.#with(quietInputs);
    const { validations = [], auditAnnotations = [] } = this.#spec;
    for (const { expression = "", messageExpression: message } of validations) {
      const validation = await explainExpression({ role: "validation", expression }, evaluate);
      explained.push(validation);
      if (message && validation.result === false) {
        explained.push(await explainExpression({ role: "messageExpression", expression: message }, quietly));
      }
    }
    for (const { key, valueExpression: expression = "" } of auditAnnotations) {
      explained.push(await explainExpression({ role: "auditAnnotation", name: key, expression }, quietly));
    }
    return explained;
  }

  /** Explains one mutation, with the object as the previous mutations left it. */
  mutation({ patchType, jsonPatch, applyConfiguration }: Mutation, inputs: PolicyInputs): Promise<ExplainedExpression> {
    const expression = (patchType === "JSONPatch" ? jsonPatch : applyConfiguration)?.expression ?? "";
    return explainExpression({ role: "mutation", expression }, this.#with(inputs));
  }

  #with({ plain: _, ...inputs }: PolicyInputs): Evaluate {
    return (text) =>
      this.#answers.complete(() => {
        const compiled = this.#compiler.compile(text, [], this.#scope);
        try {
          return new Evaluation(inputs, this.#compiler.variables, BUDGET).evaluate(compiled);
        } catch (error) {
          if (error instanceof OutOfBudget) return { error: error.message };
          throw error;
        }
      });
  }
}
