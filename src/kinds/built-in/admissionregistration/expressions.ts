import { type FieldError, internalField, invalidField } from "../../../base/api/field-error.ts";
import { type CompiledExpression, type ExpressionScope, PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import { RETURNS } from "../../../data/cel/policies/returns.ts";

/**
 * Expressions of the stored object, which may use features that new ones must not. Upstream: `preexistingExpressions`.
 */
export type KnownExpressions = ReadonlySet<string | undefined>;

const stateless = new PolicyCompiler(false);

/** Adds the compile errors of an expression. */
export function pushExpressionErrors(
  errors: FieldError[],
  field: string,
  compiled: CompiledExpression,
  shown: string = compiled.text,
): void {
  const { error, isInternal } = compiled;
  if (error === undefined) return;
  errors.push(isInternal ? internalField(field, error) : invalidField(field, shown, error));
}

/** Compiles `matchConditions[*].expression`, which cannot use variables of a policy. */
export function pushConditionExpressionErrors(
  errors: FieldError[],
  field: string,
  text: string,
  { params, known }: { readonly params: boolean; readonly known: KnownExpressions },
): void {
  const scope: ExpressionScope = { params, authorizer: true };
  const compiled = stateless.compile(text, RETURNS.condition, scope, known.has(text) ? "stored" : "new");
  pushExpressionErrors(errors, field, compiled);
}

/** Compiles the other expressions of one policy. Only a policy with variables defines `variables`. */
export function policyCompiler(composes: boolean): PolicyCompiler {
  return composes ? new PolicyCompiler(true) : stateless;
}
