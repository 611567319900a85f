import type { ExplainedExpression, ExpressionInput, ExpressionRole } from "../../api/admission-trace.ts";
import type { Json } from "../../api/object.ts";
import { toJson } from "../../cel/policies/to-json.ts";
import { CelError, Optional, type Value } from "../../cel/values/value.ts";
import type { Evaluated } from "../policies/evaluation.ts";
import { inputsOf } from "./expression-inputs.ts";

/** Evaluates any expression with what a policy or webhook is given. */
export type Evaluate = (expression: string) => Promise<Evaluated>;

/** An expression that is to be explained. */
export interface Explainable {
  readonly role: ExpressionRole;
  readonly name?: string | undefined;
  readonly expression: string;
}

/** What an expression yields, and what it was given. */
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

/** The expression stands beside the error already. */
function withoutExpression(error: string): string {
  const at = error.indexOf("' resulted in error: ");
  return at < 0 ? error : error.slice(at + "' resulted in error: ".length);
}
