import { currentMeter } from "../../../base/util/meter.ts";
import type { Environment } from "../../../data/cel/environment.ts";
import type { Activation } from "../../../data/cel/eval/frame.ts";
import { CompileError, compile, Program, program } from "../../../data/cel/program.ts";
import { CelError } from "../../../data/cel/values/value.ts";
import type { MatchCondition } from "../../../kinds/types/admission-registration.ts";
import type { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";

/** Compat: `PerCallLimit`. */
const EXPRESSION_LIMIT = 1_000_000;
/** Compat: `RuntimeCELCostBudgetMatchConditions`. */
const BUDGET = 2_500_000;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

interface Compiled {
  readonly expression: string;
  /** The program, or the compilation error. */
  readonly program: Program | string;
}

/** Result of evaluating match conditions. Upstream: `matchconditions.MatchResult`. */
export interface ConditionResult {
  readonly matches: boolean;
  /** Set if the request must fail. */
  readonly error?: string;
  /** Number of expressions that could not be evaluated. */
  readonly errors: number;
}

const MATCHES: ConditionResult = { matches: true, errors: 0 };

/** `matchConditions` of a webhook or policy, compiled once. Upstream: `matchconditions.Matcher`. */
export class MatchConditions {
  readonly #conditions: readonly Compiled[];
  readonly #failsClosed: boolean;

  constructor(conditions: readonly MatchCondition[], environment: Environment, failsClosed: boolean) {
    this.#conditions = conditions.map(({ expression = "" }) => ({
      expression,
      program: compileCondition(expression, environment),
    }));
    this.#failsClosed = failsClosed;
  }

  get areEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  /** Evaluates all conditions. A false one takes precedence over errors. */
  async evaluate(activation: Activation, answers: AuthorizerAnswers): Promise<ConditionResult> {
    if (this.areEmpty) return MATCHES;
    const errors: string[] = [];
    let isFalse = false;
    let budget = BUDGET;
    const meter = currentMeter();
    for (const { expression, program } of this.#conditions) {
      if (typeof program === "string") {
        errors.push(`compilation error: ${program}`);
        continue;
      }
      const { value, cost } = await answers.complete(() => program.evaluate(activation, EXPRESSION_LIMIT, meter));
      if (cost > budget) return this.#failed([OUT_OF_BUDGET], 0);
      budget -= cost;
      if (value instanceof CelError) errors.push(`expression '${expression}' resulted in error: ${value.message}`);
      else if (value === false) isFalse = true;
    }
    if (isFalse) return { matches: false, errors: errors.length };
    return errors.length === 0 ? MATCHES : this.#failed(errors, errors.length);
  }

  #failed(texts: readonly string[], errors: number): ConditionResult {
    return this.#failsClosed ? { matches: false, error: aggregate(texts), errors } : { matches: false, errors };
  }
}

/** Joins several messages. Upstream: `utilerrors.NewAggregate`. */
export function aggregate(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  return unique.length === 1 ? (unique[0] as string) : `[${unique.join(", ")}]`;
}

function compileCondition(expression: string, environment: Environment): Program | string {
  const checked = compile(expression, environment);
  if (checked instanceof CompileError) return `compilation failed: ${checked.message}`;
  if (checked.type.kind !== "bool") return `must evaluate to bool but got ${checked.type.describe()}`;
  const made = program(checked, environment);
  return made instanceof Program ? made : `program instantiation failed: ${made.message}`;
}
