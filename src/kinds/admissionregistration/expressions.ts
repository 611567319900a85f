import { type FieldError, internalField, invalidField } from "../../api/field-error.ts";
import { type CompiledExpression, type ExpressionScope, PolicyCompiler } from "../../cel/policies/compiler.ts";
import { RETURNS } from "../../cel/policies/returns.ts";

/** Expressions of the stored object, which may use what new ones may not. Upstream: `preexistingExpressions`. */
export type KnownExpressions = ReadonlySet<string | undefined>;

const stateless = new PolicyCompiler(false);

/** Compiles an expression and tells what is wrong with it. */
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

/** Compiles `matchConditions[*].expression`, in which variables of a policy cannot be used. */
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

/** Compiles the other expressions of one policy. Only one with variables knows `variables`. */
export function policyCompiler(composes: boolean): PolicyCompiler {
  return composes ? new PolicyCompiler(true) : stateless;
}
