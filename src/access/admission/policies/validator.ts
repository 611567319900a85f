import { trimSpace } from "../../../data/cel/kubernetes/strings.ts";
import { type CompiledExpression, PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import { RETURNS } from "../../../data/cel/policies/returns.ts";
import { typeOfValue } from "../../../data/cel/values/value.ts";
import type { PolicySpec, Validation } from "../../../kinds/types/admission-registration.ts";
import { type Evaluated, Evaluation, EXPRESSION_LIMIT, OutOfBudget, type PolicyInputs } from "./evaluation.ts";
import { compileConditions, type PolicyConditions } from "./policy-conditions.ts";

/** Compat: `RuntimeCELCostBudget`. */
const BUDGET = 10_000_000;
/** Compat: `MaxEvaluatedMessageExpressionSizeBytes`. */
const MAX_MESSAGE = 5 * 1024;

/** Result of one expression. Upstream: `PolicyDecision`. */
export interface Decision {
  readonly action: "admit" | "deny";
  readonly evaluation: "admit" | "deny" | "error";
  readonly message: string;
  /** If omitted: Invalid. */
  readonly reason?: string | undefined;
}

/** Result of an audit annotation. Upstream: `PolicyAuditAnnotation`. */
export interface AnnotationResult {
  readonly key: string;
  /** If omitted, no annotation is published. */
  readonly value?: string;
  /** If set, the request is denied with it. */
  readonly error?: string;
}

/** Result of a policy. Upstream: `ValidateResult`. */
export interface ValidateResult {
  readonly decisions: readonly Decision[];
  readonly annotations: readonly AnnotationResult[];
}

const NOTHING: ValidateResult = { decisions: [], annotations: [] };
const ADMITTED: Decision = { action: "admit", evaluation: "admit", message: "" };

interface CompiledValidation {
  readonly validation: Validation;
  readonly expression: CompiledExpression;
  readonly message: CompiledExpression | undefined;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: CompiledExpression;
}

/** The expressions of a ValidatingAdmissionPolicy. Upstream: `validating.Validator`. */
export class Validator {
  readonly #compiler: PolicyCompiler;
  readonly #conditions: PolicyConditions | undefined;
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly CompiledAnnotation[];
  readonly #failsOpen: boolean;

  constructor(spec: PolicySpec) {
    const { variables = [], validations = [], auditAnnotations = [] } = spec;
    const compiler = new PolicyCompiler(variables.length > 0);
    const scope = { params: spec.paramKind !== undefined, authorizer: true };
    for (const { name = "", expression = "" } of variables) compiler.addVariable(name, expression, scope);
    this.#compiler = compiler;
    this.#failsOpen = spec.failurePolicy === "Ignore";
    this.#conditions = compileConditions(spec, compiler);
    this.#validations = validations.map((validation) => ({
      validation,
      expression: compiler.compile(validation.expression ?? "", RETURNS.condition, scope),
      message: validation.messageExpression
        ? compiler.compile(validation.messageExpression, RETURNS.message, { ...scope, authorizer: false })
        : undefined,
    }));
    this.#annotations = auditAnnotations.map(({ key = "", valueExpression = "" }) => ({
      key,
      expression: compiler.compile(valueExpression, RETURNS.auditAnnotation, scope),
    }));
  }

  /** Evaluates the policy. Returns the same result for the same inputs, and may be called again. */
  validate(inputs: PolicyInputs): ValidateResult {
    const matched = this.#conditions?.match(inputs) ?? { matches: true };
    if (matched.error !== undefined) return { decisions: [this.#failed(matched.error)], annotations: [] };
    if (!matched.matches) return NOTHING;
    try {
      const decisions = this.#decide(inputs);
      if (decisions.length === 0 && this.#annotations.length === 0) return NOTHING;
      return { decisions, annotations: this.#annotate(inputs) };
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { decisions: [this.#failed(error.message)], annotations: [] };
    }
  }

  #failed(message: string): Decision {
    return { action: this.#failsOpen ? "admit" : "deny", evaluation: "error", message };
  }

  /** Empty if all validations pass. */
  #decide(inputs: PolicyInputs): Decision[] {
    const evaluation = new Evaluation(inputs, this.#compiler.variables, BUDGET);
    const results = this.#validations.map(({ expression }) => evaluation.evaluate(expression));
    if (results.every(isTrue) && this.#messagesFit(evaluation.budget)) return [];
    const messages = this.#messages(inputs, evaluation.budget);
    return results.map((result, index) => {
      if (result.error !== undefined) return this.#failed(result.error);
      if (messages instanceof OutOfBudget) return this.#failed(`failed messageExpression: ${messages.message}`);
      if (isTrue(result)) return ADMITTED;
      const { validation } = this.#validations[index] as CompiledValidation;
      const message = messageOf(validation, messages[index]);
      return { action: "deny", evaluation: "deny", message, reason: validation.reason };
    });
  }

  /**
   * Whether the budget certainly suffices for all messages. Then they need not be evaluated if all validations pass.
   */
  #messagesFit(budget: number): boolean {
    const messages = this.#validations.filter(({ message }) => message !== undefined).length;
    return messages === 0 || (messages + this.#compiler.variables.size) * 2 * EXPRESSION_LIMIT <= budget;
  }

  /** All messages share a budget. Running out of it is an error even if no message is needed. */
  #messages(inputs: PolicyInputs, budget: number): (Evaluated | undefined)[] | OutOfBudget {
    const { authorizer: _, plain: _plain, ...quiet } = inputs;
    const evaluation = new Evaluation(quiet, this.#compiler.variables, budget);
    try {
      return this.#validations.map(({ message }) => message && evaluation.evaluate(message));
    } catch (error) {
      if (error instanceof OutOfBudget) return error;
      throw error;
    }
  }

  /** Compat: `auditAnnotationFilter` may reference the authorizer, but gets none. */
  #annotate(inputs: PolicyInputs): AnnotationResult[] {
    const { authorizer: _, plain: _plain, ...quiet } = inputs;
    const evaluation = new Evaluation(quiet, this.#compiler.variables, BUDGET);
    return this.#annotations.map(({ key, expression }) => {
      const result = evaluation.evaluate(expression);
      if (result.error !== undefined) return this.#failsOpen ? { key } : { key, error: result.error };
      const { value } = result;
      if (value === null) return { key };
      if (typeof value === "string") {
        const text = trimSpace(value);
        return text === "" ? { key } : { key, value: text };
      }
      const wanted = "Return type must be either string or null.";
      const type = typeOfValue(value).name;
      return {
        key,
        error: `valueExpression '${expression.text}' resulted in unsupported return type: ${type}. ${wanted}`,
      };
    });
  }
}

const isTrue = (result: Evaluated): boolean => result.error === undefined && result.value === true;

/** The message of a failed validation: messageExpression, message, or the expression itself. */
function messageOf({ message = "", expression = "" }: Validation, computed: Evaluated | undefined): string {
  const value = computed === undefined || computed.error !== undefined ? undefined : computed.value;
  const text = typeof value === "string" ? trimSpace(value) : "";
  if (text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE) return text;
  return trimSpace(message) || `failed expression: ${trimSpace(expression)}`;
}
