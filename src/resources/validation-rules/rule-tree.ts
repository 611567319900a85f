import type { Steps } from "../../base/util/steps.ts";
import { storedExpressions } from "../../data/cel/kubernetes/environment.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { type CompiledRule, type RuleEnvironments, ruleCompiler } from "./compile-rules.ts";
import { type DeclaredType, declaredType, withTypeMeta } from "./declared-type.ts";
import { escapeName } from "./escaping.ts";
import { fieldPathOf } from "./field-path.ts";

/** The compiled rules of a schema and its subschemas. Upstream: `cel.Validator`. */
export interface RuleNode {
  readonly schema: Schema;
  readonly rules: readonly (CompiledRule & { readonly path: string })[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly allOf: readonly RuleNode[];
}

const STORED: RuleEnvironments = { rule: () => storedExpressions, message: () => storedExpressions };

/** Compiled rules by schema. */
export type CompiledRules = Map<Schema, readonly CompiledRule[]>;

/** Compiles the rules of a schema and its subschemas, unless they are in `known`. */
export function* ruleTree(
  rules: Schema,
  schema: Schema,
  isRoot: boolean,
  declared: DeclaredType | undefined,
  known?: CompiledRules,
): Steps<RuleNode | undefined> {
  const compiled = known?.get(rules) ?? (yield* compiledRules(rules, declared));
  if (compiled.length > 0) known?.set(rules, compiled);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of rules.properties ?? []) {
    const own = schema.properties?.get(name);
    const escaped = escapeName(name);
    if (own === undefined) continue;
    const isEmbedded = own.embeddedResource === true;
    const type = escaped === undefined ? declaredType(own, isEmbedded) : declared?.fields?.get(escaped);
    const node = type && (yield* ruleTree(property, own, isEmbedded, type, known));
    if (node !== undefined) properties.set(name, node);
  }
  const items = yield* nodeBelow(rules.items, schema.items, declared, known);
  const values = yield* nodeBelow(rules.values, schema.values, declared, known);
  const allOf: RuleNode[] = [];
  for (const part of rules.allOf ?? []) {
    const node = yield* ruleTree(part, schema, isRoot, declared, known);
    if (node !== undefined) allOf.push(node);
  }
  const hasNone = items === undefined && values === undefined && properties.size === 0;
  if (compiled.length === 0 && hasNone && allOf.length === 0) return undefined;
  const withPaths = compiled.map((rule) => ({ ...rule, path: fieldPathOf(rule.rule.fieldPath, schema) }));
  return { schema: isRoot ? withTypeMeta(schema) : schema, rules: withPaths, properties, items, values, allOf };
}

function* compiledRules(
  { validations = [] }: Schema,
  declared: DeclaredType | undefined,
): Steps<readonly CompiledRule[]> {
  if (declared === undefined || validations.length === 0) return [];
  const compiled: CompiledRule[] = [];
  const compile = ruleCompiler(declared, STORED);
  for (const rule of validations) {
    compiled.push(yield* compile(rule));
    yield;
  }
  return compiled;
}

function* nodeBelow(
  part: Schema | true | undefined,
  own: Schema | true | undefined,
  declared: DeclaredType | undefined,
  known: CompiledRules | undefined,
): Steps<RuleNode | undefined> {
  if (typeof part !== "object" || typeof own !== "object") return undefined;
  return yield* ruleTree(part, own, own.embeddedResource === true, declared?.element, known);
}
