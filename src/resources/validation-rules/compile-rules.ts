import { finish, type Steps } from "../../base/util/steps.ts";
import { estimateCost } from "../../data/cel/cost/estimate.ts";
import type { Amount } from "../../data/cel/cost/sizes.ts";
import type { Environment } from "../../data/cel/environment.ts";
import { type Expr, partsOf } from "../../data/cel/parser/ast.ts";
import { CompileError, compileSteps, Program, program } from "../../data/cel/program.ts";
import { optionalType } from "../../data/cel/values/types.ts";
import type { ValidationRule } from "../../data/schema/schema.ts";
import { type DeclaredType, DeclaredTypes, followPath, MAX_REQUEST } from "./declared-type.ts";

/** A compiled rule, or its compilation error. Upstream: `CompilationResult`. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: Program;
  readonly error?: string;
  readonly usesOldSelf: boolean;
  readonly maxCost: Amount;
  readonly message?: Program;
  readonly messageError?: string;
  readonly messageMaxCost: Amount;
}

/** Compat: in `generateUniqueSelfTypeName` the number is the clock's nanoseconds. */
const SELF_TYPE = "selfType1";

/** Maximum number of times a rule can apply, given the size of its values. Upstream: `maxCardinality`. */
export const maxCardinality = ({ minSize }: DeclaredType): number => Math.floor(MAX_REQUEST / (minSize + 1));

/** The CEL environment of an expression. Upstream: `EnvLoader`. */
export interface RuleEnvironments {
  rule(expression: string): Environment;
  message(expression: string): Environment;
}

/** Compiles the rules of a schema. Upstream: `cel.Compile` of apiextensions. */
export function compileRules(
  rules: readonly ValidationRule[],
  declared: DeclaredType,
  bases: RuleEnvironments,
): CompiledRule[] {
  const compile = ruleCompiler(declared, bases);
  return rules.map((rule) => finish(compile(rule)));
}

/** Compiles rules one by one in steps, so the caller can pause in between: a long rule takes a while. */
export function ruleCompiler(
  declared: DeclaredType,
  bases: RuleEnvironments,
): (rule: ValidationRule) => Steps<CompiledRule> {
  const types = new DeclaredTypes();
  const self = types.typeOf(declared, SELF_TYPE);
  const plain = new Map<Environment, Environment>();
  const optional = new Map<Environment, Environment>();
  const extend = (base: Environment, isOptional: boolean): Environment => {
    const known = isOptional ? optional : plain;
    const oldSelf = isOptional ? optionalType(self) : self;
    const extended = known.get(base) ?? base.extend({ types, variables: { self, oldSelf } });
    known.set(base, extended);
    return extended;
  };
  return (rule) => {
    const isOptional = rule.optionalOldSelf === true;
    return ruleSteps(rule, declared, {
      rule: (text) => extend(bases.rule(text), isOptional),
      message: (text) => extend(bases.message(text), isOptional),
    });
  };
}

function* ruleSteps(rule: ValidationRule, declared: DeclaredType, bases: RuleEnvironments): Steps<CompiledRule> {
  const env = bases.rule(rule.rule);
  const nothing = { rule, usesOldSelf: false, maxCost: 0, messageMaxCost: 0 };
  if (rule.rule.trim() === "") return nothing;
  const checked = yield* compileSteps(rule.rule, env);
  if (checked instanceof CompileError) return { ...nothing, error: `compilation failed: ${checked.message}` };
  if (checked.type.kind !== "bool") return { ...nothing, error: "cel expression must evaluate to a bool" };
  yield;
  const usesOldSelf = usesName(checked.expr, "oldSelf");
  const made = program(checked, env);
  yield;
  if (!(made instanceof Program)) {
    return { ...nothing, usesOldSelf, error: `program instantiation failed: ${made.message}` };
  }
  const result = { ...nothing, usesOldSelf, program: made, maxCost: costOf(checked.expr, declared, env) };
  yield;
  if (!rule.messageExpression) return result;
  return { ...result, ...(yield* messageSteps(rule.messageExpression, declared, bases)) };
}

function* messageSteps(text: string, declared: DeclaredType, bases: RuleEnvironments): Steps<Partial<CompiledRule>> {
  const env = bases.message(text);
  const checked = yield* compileSteps(text, env);
  if (checked instanceof CompileError) {
    return { messageError: `messageExpression compilation failed: ${checked.message}` };
  }
  if (checked.type.kind !== "string") return { messageError: "messageExpression must evaluate to a string" };
  yield;
  const made = program(checked, env);
  yield;
  if (!(made instanceof Program)) return { messageError: `messageExpression instantiation failed: ${made.message}` };
  return { message: made, messageMaxCost: costOf(checked.expr, declared, env) };
}

function costOf(expr: Expr, declared: DeclaredType, env: Environment): Amount {
  return estimateCost(expr, env, ({ path }) => {
    if (path === undefined || path.length === 0) return undefined;
    const found = followPath(declared, path);
    return found && { min: 0, max: found.maxElements };
  }).max;
}

function usesName(expr: Expr, name: string): boolean {
  if (expr.kind === "ident" && expr.name === name) return true;
  return partsOf(expr).some((part) => usesName(part, name));
}
