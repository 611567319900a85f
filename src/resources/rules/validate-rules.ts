import {
  duplicateField,
  type FieldError,
  forbiddenField,
  hiddenInvalidField,
  invalidField,
  printFieldError,
  requiredField,
} from "../../api/field-error.ts";
import type { Json } from "../../api/object.ts";
import { storedExpressions } from "../../cel/kubernetes/environment.ts";
import { trimSpace } from "../../cel/kubernetes/strings.ts";
import type { Program } from "../../cel/program.ts";
import { CelError, NONE, Optional, type Value } from "../../cel/values/value.ts";
import { getMember } from "../../lib/members.ts";
import { finish, type Steps } from "../../lib/steps.ts";
import type { RuleCheck, Schema, ValidationRule } from "../../schema/schema.ts";
import { Correlated } from "../../schema/structural/correlate.ts";
import { isMembers } from "../../schema/structural/findings.ts";
import { pacer } from "../pace.ts";
import { type CompiledRule, type RuleEnvironments, ruleCompiler } from "./compile-rules.ts";
import { type DeclaredType, declaredType, withTypeMeta } from "./declared-type.ts";
import { escapeName } from "./escaping.ts";
import { fieldPathOf } from "./field-path.ts";
import { celValue } from "./values.ts";

/** The cost that all rules of an object may have together. */
const BUDGET = 10_000_000;
/** The cost that one rule may have. */
const CALL_LIMIT = 1_000_000;
/** More than these have no room in the headers of an answer. */
const MAX_WARNINGS = 1000;
const MAX_MESSAGE = 5 * 1024;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** The rules of a schema and of those below it, compiled. Upstream: `cel.Validator`. */
interface RuleNode {
  readonly schema: Schema;
  readonly rules: readonly (CompiledRule & { readonly path: string })[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly allOf: readonly RuleNode[];
}

const STORED: RuleEnvironments = { rule: () => storedExpressions, message: () => storedExpressions };

/** The rules of schemas, compiled. */
type CompiledRules = Map<Schema, readonly CompiledRule[]>;

/** Compiles the rules of a schema and of those below it, as far as they are not known. */
function* nodeOf(
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
    const node = type && (yield* nodeOf(property, own, isEmbedded, type, known));
    if (node !== undefined) properties.set(name, node);
  }
  const items = yield* nodeBelow(rules.items, schema.items, declared, known);
  const values = yield* nodeBelow(rules.values, schema.values, declared, known);
  const allOf: RuleNode[] = [];
  for (const part of rules.allOf ?? []) {
    const node = yield* nodeOf(part, schema, isRoot, declared, known);
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
  return yield* nodeOf(part, own, own.embeddedResource === true, declared?.element, known);
}

/**
 * Checks objects by all rules of a schema, which are compiled when the first object comes. What is wrong with a part that
 * did not change becomes a warning.
 */
export function rulesOf(schema: Schema): RuleCheck {
  let steps: Steps<RuleNode | undefined> | undefined;
  let tree: { readonly root: RuleNode | undefined } | undefined;
  let preparing: Promise<void> | undefined;
  /** Compiles a part of one more rule. */
  const step = (): void => {
    steps ??= nodeOf(schema, schema, true, declaredType(schema, true));
    try {
      const { done, value } = steps.next();
      if (done) tree = { root: value ?? undefined };
    } catch (error) {
      // One that has thrown would be at its end, as if there were no rules.
      steps = undefined;
      throw error;
    }
  };
  const prepareAll = async (): Promise<void> => {
    const pause = pacer();
    while (!tree) {
      step();
      await pause();
    }
  };
  return {
    prepare() {
      if (tree) return undefined;
      preparing ??= prepareAll().finally(() => {
        preparing = undefined;
      });
      return preparing;
    },
    check(next, previous, warn) {
      while (!tree) step();
      if (tree.root === undefined) return [];
      const run = new RuleRun(warn);
      const current = previous === undefined ? undefined : new Correlated(next, previous, schema);
      run.check(tree.root, "", next, previous, { current, parent: undefined });
      return run.errors.map((error) => ({ ...error, isRepeated: true }));
    },
  };
}

/** What is known of rules while all defaults of a schema are validated. */
export interface DefaultRules {
  /** The cost that they may still have; below 0 none is run any more. */
  left: number;
  /** Those that are compiled: defaults within defaults have the same rules below them. */
  readonly compiled: CompiledRules;
}

/** Nothing is known yet, and nothing spent. */
export const defaultRules = (): DefaultRules => ({ left: BUDGET, compiled: new Map() });

/**
 * What the rules of a schema, and of those below it, say about its default: as if it stayed what it was, then as if it
 * were new. Upstream: `ValidateDefaults`, which runs its validator twice for the sake of optionalOldSelf.
 */
export function defaultRuleErrors(
  schema: Schema,
  { value, path, isRoot }: { readonly value: Json; readonly path: string; readonly isRoot: boolean },
  budget: DefaultRules,
): FieldError[] {
  const root = finish(nodeOf(schema, schema, isRoot, declaredType(schema, isRoot), budget.compiled));
  if (root === undefined) return [];
  let { left } = budget;
  for (const old of [value, undefined]) {
    const run = new RuleRun(() => {}, budget.left);
    const isWhole = run.check(root, path, value, old, { current: undefined, parent: undefined });
    left = Math.min(left, isWhole ? run.budget : -1);
    if (run.errors.length === 0) continue;
    budget.left = left;
    return run.errors;
  }
  budget.left = left;
  return [];
}

/** What ratcheting goes by. Upstream: `ratchetingOptions`. */
interface Ratchet {
  readonly current: Correlated | undefined;
  readonly parent: Correlated | undefined;
}

function memberOf(ratchet: Ratchet, name: string): Ratchet {
  const { current, parent } = ratchet;
  if (current === undefined) return ratchet;
  if (parent === undefined && (name === "apiVersion" || name === "kind")) {
    return { current: undefined, parent: undefined };
  }
  return { current: current.member(name), parent: current };
}

const isUnchanged = ({ current, parent }: Ratchet) => (current ?? parent)?.isEqual ?? false;

class RuleRun {
  readonly errors: FieldError[] = [];
  readonly #warn: (text: string) => void;
  #budget: number;
  #warnings = 0;

  constructor(warn: (text: string) => void, budget = BUDGET) {
    this.#warn = warn;
    this.#budget = budget;
  }

  /** What the rules that have run leave of it. */
  get budget(): number {
    return this.#budget;
  }

  /** False: the budget is used up, and no further rules are run. */
  check(node: RuleNode, path: string, value: Json, old: Json | undefined, ratchet: Ratchet): boolean {
    if (value === null) return true;
    if (!this.#checkRules(node, path, value, old ?? undefined, ratchet)) return false;
    const inner = { current: undefined, parent: ratchet.parent };
    for (const part of node.allOf) if (!this.check(part, path, value, old, inner)) return false;
    if (Array.isArray(value)) return this.#checkItems(node, path, value, old, ratchet);
    return isMembers(value) ? this.#checkMembers(node, path, value, old, ratchet) : true;
  }

  #checkItems(node: RuleNode, path: string, value: readonly Json[], old: Json | undefined, ratchet: Ratchet): boolean {
    const { items, schema } = node;
    if (items === undefined) return true;
    const find = oldItems(schema, old);
    for (const [index, item] of value.entries()) {
      const { current } = ratchet;
      const below = current === undefined ? ratchet : { current: current.item(index), parent: current };
      if (!this.check(items, `${path}[${index}]`, item, find(item), below)) return false;
    }
    return true;
  }

  #checkMembers(
    node: RuleNode,
    path: string,
    value: { readonly [member: string]: Json },
    old: Json | undefined,
    ratchet: Ratchet,
  ): boolean {
    for (const [name, member] of Object.entries(value)) {
      const before = isMembers(old) ? getMember(old, name) : undefined;
      const property = node.properties.get(name);
      const below = memberOf(ratchet, name);
      if (node.values && !this.check(node.values, `${path}[${name}]`, member, before, below)) return false;
      const at = path === "" ? name : `${path}.${name}`;
      if (property && !this.check(property, at, member, before, below)) return false;
    }
    return true;
  }

  #invalid(path: string, { type }: Schema, text: string): void {
    this.errors.push(invalidField(path || "<nil>", type ?? "", text));
  }

  #checkRules(node: RuleNode, path: string, value: Json, old: Json | undefined, ratchet: Ratchet): boolean {
    if (node.rules.length === 0) return true;
    const { schema } = node;
    if (this.#budget <= 0) {
      this.#invalid(path, schema, OUT_OF_BUDGET);
      return false;
    }
    const self = celValue(value, schema);
    const oldSelf = old === undefined || old === null ? undefined : celValue(old, schema);
    for (const compiled of node.rules) {
      const isOptional = compiled.rule.optionalOldSelf === true;
      if (compiled.error !== undefined) {
        this.#invalid(path, schema, `rule compile error: ${compiled.error}`);
        continue;
      }
      if (compiled.program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !isOptional)) continue;
      const activation = (name: string): Value | undefined => {
        if (name === "self") return self;
        if (name !== "oldSelf") return undefined;
        return isOptional ? (oldSelf === undefined ? NONE : new Optional(oldSelf)) : oldSelf;
      };
      const plain = (name: string) => (name === "self" ? self : name === "oldSelf" ? oldSelf : undefined);
      if (!this.#runRule(compiled, path, value, schema, activation, plain, ratchet)) return false;
    }
    return true;
  }

  #runRule(
    compiled: RuleNode["rules"][number],
    path: string,
    value: Json,
    schema: Schema,
    activation: (name: string) => Value | undefined,
    plain: (name: string) => Value | undefined,
    ratchet: Ratchet,
  ): boolean {
    const { rule } = compiled;
    const { value: result, cost } = (compiled.program as Program).evaluate(activation, CALL_LIMIT);
    if (cost > this.#budget) {
      this.#invalid(path, schema, OUT_OF_BUDGET);
      return false;
    }
    this.#budget -= cost;
    if (result instanceof CelError) return this.#failed(result.message, rule, path, schema);
    if (result === true) return true;
    const isRatcheted = !compiled.usesOldSelf && isUnchanged(ratchet);
    const tell = (error: FieldError) => void (isRatcheted ? this.#warnOf(error) : this.errors.push(error));
    const at = compiled.path === "" ? path : path === "" ? compiled.path : `${path}.${compiled.path}`;
    const told = compiled.message === undefined ? undefined : this.#message(compiled.message, rule, plain);
    if (told !== undefined && "refusal" in told) {
      tell(invalidField(at || "<nil>", schema.type ?? "", told.refusal));
      return false;
    }
    const shown = schema.type === "object" || schema.type === "array" ? undefined : value;
    tell(errorOf(at || "<nil>", shown, told?.text ?? messageOf(rule), rule.reason));
    return true;
  }

  #warnOf(error: FieldError): void {
    this.#warnings += 1;
    if (this.#warnings <= MAX_WARNINGS) this.#warn(printFieldError(error));
  }

  #failed(message: string, rule: ValidationRule, path: string, schema: Schema): boolean {
    const name = nameOf(rule);
    if (message.startsWith("no such overload")) {
      const text = "call arguments did not match a supported operator, function or macro signature for rule";
      this.#invalid(path, schema, `'${message}': ${text}: ${name}`);
    } else if (message.startsWith("operation cancelled: actual cost limit exceeded")) {
      const text = "no further validation rules will be run due to call cost exceeds limit for rule";
      this.#invalid(path, schema, `'${message}': ${text}: ${name}`);
      return false;
    } else this.#invalid(path, schema, `${message} evaluating rule: ${name}`);
    return true;
  }

  /** The message that an expression yields; undefined if that is none to be told. Upstream: `evalMessageExpression`. */
  #message(
    made: Program,
    rule: ValidationRule,
    activation: (name: string) => Value | undefined,
  ): { readonly text: string } | { readonly refusal: string } | undefined {
    const { value, cost } = made.evaluate(activation, CALL_LIMIT);
    if (cost > this.#budget) {
      const text = "messageExpression evaluation failed due to running out of cost budget";
      return { refusal: `${text}, no further validation rules will be run` };
    }
    if (value instanceof CelError && value.message.startsWith("operation cancelled: actual cost limit exceeded")) {
      const text = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
      return { refusal: `${text}: ${JSON.stringify(rule.messageExpression)}` };
    }
    this.#budget -= cost;
    const text = typeof value === "string" ? trimSpace(value) : "";
    return text === "" || text.includes("\n") || Buffer.byteLength(text) > MAX_MESSAGE ? undefined : { text };
  }
}

/** Finds the item of the old list with the same keys. Upstream: `makeMapList`. */
function oldItems({ listType, listMapKeys = [] }: Schema, old: Json | undefined): (item: Json) => Json | undefined {
  if (listType !== "map" || listMapKeys.length === 0 || !Array.isArray(old)) return () => undefined;
  const keysOf = (item: Json) => {
    if (!isMembers(item)) return undefined;
    const keys = listMapKeys.map((key) => getMember(item, key));
    return keys.includes(undefined) ? undefined : JSON.stringify(keys);
  };
  const known = new Map<string, Json>();
  for (const item of old) {
    const keys = keysOf(item);
    if (keys !== undefined && !known.has(keys)) known.set(keys, item);
  }
  return (item) => {
    const keys = keysOf(item);
    return keys === undefined ? undefined : known.get(keys);
  };
}

const nameOf = ({ message, rule }: ValidationRule) => trimSpace(message || rule);
const messageOf = (rule: ValidationRule) => (rule.message ? trimSpace(rule.message) : `failed rule: ${nameOf(rule)}`);

function errorOf(field: string, value: Json | undefined, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return forbiddenField(field, detail);
    case "FieldValueRequired":
      return requiredField(field, detail);
    case "FieldValueDuplicate":
      return value === undefined
        ? { ...duplicateField(field, ""), message: "Duplicate value" }
        : duplicateField(field, value);
    default:
      return value === undefined ? hiddenInvalidField(field, detail) : invalidField(field, value, detail);
  }
}
