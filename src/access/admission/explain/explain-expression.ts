import type { ExplainedExpression, ExpressionInput, ExpressionRole } from "../../../base/api/admission-trace.ts";
import type { Json } from "../../../base/api/object.ts";
import { toJson } from "../../../data/cel/policies/to-json.ts";
import { CelError, Optional, type Value } from "../../../data/cel/values/value.ts";
import type { Evaluated } from "../policies/evaluation.ts";
import { inputsOf } from "./expression-inputs.ts";

/** Evaluates an expression with the variables of a policy or webhook. */
export type Evaluate = (expression: string) => Promise<Evaluated>;

/** An expression to explain. */
export interface Explainable {
  readonly role: ExpressionRole;
  readonly name?: string | undefined;
  readonly expression: string;
}

/** Evaluates an expression and its inputs. */
export async function explainExpression(
  { role, name, expression }: Explainable,
  evaluate: Evaluate,
): Promise<ExplainedExpression> {
  const inputs: ExpressionInput[] = [];
  for (const text of inputsOf(expression)) inputs.push({ expression: text, ...shown(await evaluate(text)) });
  const { value: result, error } = shown(await evaluate(expression));
  return {
    role,
    ...(name !== undefined && { name }),
    expression: expression.trim(),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    inputs,
  };
}

function shown(result: Evaluated): { value?: Json; error?: string } {
  if (result.error !== undefined) return { error: withoutExpression(result.error) };
  const value = unwrapped(result.value);
  if (value === undefined) return { error: "optional.none()" };
  const json = toJson(value);
  return json instanceof CelError ? { error: json.message } : { value: json };
}

const unwrapped = (value: Value): Value | undefined => (value instanceof Optional ? value.value : value);

/** Removes the expression from the message, because it is shown next to the error. */
function withoutExpression(error: string): string {
  const at = error.indexOf("' resulted in error: ");
  return at < 0 ? error : error.slice(at + "' resulted in error: ".length);
}
