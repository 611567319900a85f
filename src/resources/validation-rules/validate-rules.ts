import {
  duplicateField,
  type FieldError,
  forbiddenField,
  hiddenInvalidField,
  invalidField,
  printFieldError,
  requiredField,
} from "../../base/api/field-error.ts";
import type { Json } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";
import { currentMeter } from "../../base/util/meter.ts";
import { finish, type Steps } from "../../base/util/steps.ts";
import { trimSpace } from "../../data/cel/kubernetes/strings.ts";
import type { Program } from "../../data/cel/program.ts";
import { CelError, NONE, Optional, type Value } from "../../data/cel/values/value.ts";
import type { RuleCheck, Schema, ValidationRule } from "../../data/schema/schema.ts";
import { Correlated } from "../../data/schema/structural/correlate.ts";
import { isMembers } from "../../data/schema/structural/findings.ts";
import { pacer } from "../pace.ts";
import { declaredType } from "./declared-type.ts";
import { type CompiledRules, type RuleNode, ruleTree } from "./rule-tree.ts";
import { celValue } from "./values.ts";

/** Cost limit of all rules of an object together. */
const BUDGET = 10_000_000;
/** Cost limit of a single rule. */
const CALL_LIMIT = 1_000_000;
/** Response headers have no room for more warnings. */
const MAX_WARNINGS = 1000;
const MAX_MESSAGE = 5 * 1024;
/** What it takes to visit a value, in units of the meter. */
const UNITS_PER_VALUE = 5;
/** The same for a key of an item in a list of type map. */
const UNITS_PER_KEY = 0.5;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/**
 * Checks objects against all rules of a schema, which are compiled on first use. Errors in unchanged parts become
 * warnings.
 */
export function rulesOf(schema: Schema): RuleCheck {
  let steps: Steps<RuleNode | undefined> | undefined;
  let tree: { readonly root: RuleNode | undefined } | undefined;
  let preparing: Promise<void> | undefined;
  /** Runs one more compilation step. */
  const step = (): void => {
    steps ??= ruleTree(schema, schema, true, declaredType(schema, true));
    try {
      const { done, value } = steps.next();
      if (done) tree = { root: value ?? undefined };
    } catch (error) {
      // A generator that has thrown is finished, which would look like a schema without rules.
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
      const current = previous === undefined ? undefined : new Correlated(next, previous, schema, currentMeter());
      run.check(tree.root, "", next, previous, { current, parent: undefined });
      return run.errors.map((error) => ({ ...error, isRepeated: true }));
    },
  };
}

/** State shared while all defaults of a schema are validated. */
export interface DefaultRules {
  /** The remaining cost budget; below 0 no more rules are run. */
  left: number;
  /** Compiled rules. Defaults within defaults share the rules below them. */
  readonly compiled: CompiledRules;
}

/** The initial state: nothing compiled, nothing spent. */
export const defaultRules = (): DefaultRules => ({ left: BUDGET, compiled: new Map() });

/**
 * Runs the rules of a schema and its subschemas on its default: first as an unchanged value, then as a new one.
 * Upstream: `ValidateDefaults`, which runs its validator twice because of optionalOldSelf.
 */
export function defaultRuleErrors(
  schema: Schema,
  { value, path, isRoot }: { readonly value: Json; readonly path: string; readonly isRoot: boolean },
  budget: DefaultRules,
): FieldError[] {
  const root = finish(ruleTree(schema, schema, isRoot, declaredType(schema, isRoot), budget.compiled));
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

/** The values that ratcheting compares. Upstream: `ratchetingOptions`. */
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
  readonly #meter = currentMeter();
  readonly #warn: (text: string) => void;
  #budget: number;
  #warnings = 0;

  constructor(warn: (text: string) => void, budget = BUDGET) {
    this.#warn = warn;
    this.#budget = budget;
  }

  /** The remaining cost budget. */
  get budget(): number {
    return this.#budget;
  }

  /** Returns false if the budget is used up; no further rules are run then. */
  check(node: RuleNode, path: string, value: Json, old: Json | undefined, ratchet: Ratchet): boolean {
    if (value === null) return true;
    this.#meter.charge(UNITS_PER_VALUE);
    if (!this.#checkRules(node, path, value, old ?? undefined, ratchet)) return false;
    const inner = { current: undefined, parent: ratchet.parent };
    for (const part of node.allOf) if (!this.check(part, path, value, old, inner)) return false;
    if (Array.isArray(value)) return this.#checkItems(node, path, value, old, ratchet);
    return isMembers(value) ? this.#checkMembers(node, path, value, old, ratchet) : true;
  }

  #checkItems(node: RuleNode, path: string, value: readonly Json[], old: Json | undefined, ratchet: Ratchet): boolean {
    const { items, schema } = node;
    if (items === undefined) return true;
    const keys = Array.isArray(old) ? (schema.listMapKeys?.length ?? 0) * (value.length + old.length) : 0;
    this.#meter.charge(keys * UNITS_PER_KEY);
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
    const { value: result, cost } = (compiled.program as Program).evaluate(activation, CALL_LIMIT, this.#meter);
    if (cost > this.#budget) {
      this.#invalid(path, schema, OUT_OF_BUDGET);
      return false;
    }
    this.#budget -= cost;
    if (result instanceof CelError) return this.#failed(result.message, rule, path, schema);
    if (result === true) return true;
    const isRatcheted = !compiled.usesOldSelf && isUnchanged(ratchet);
    const report = (error: FieldError) => void (isRatcheted ? this.#warnOf(error) : this.errors.push(error));
    const at = compiled.path === "" ? path : path === "" ? compiled.path : `${path}.${compiled.path}`;
    const message = compiled.message === undefined ? undefined : this.#message(compiled.message, rule, plain);
    if (message !== undefined && "refusal" in message) {
      report(invalidField(at || "<nil>", schema.type ?? "", message.refusal));
      return false;
    }
    const shown = schema.type === "object" || schema.type === "array" ? undefined : value;
    report(errorOf(at || "<nil>", shown, message?.text ?? messageOf(rule), rule.reason));
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

  /** The result of a messageExpression. Undefined if it is not usable as message. Upstream: `evalMessageExpression`. */
  #message(
    made: Program,
    rule: ValidationRule,
    activation: (name: string) => Value | undefined,
  ): { readonly text: string } | { readonly refusal: string } | undefined {
    const { value, cost } = made.evaluate(activation, CALL_LIMIT, this.#meter);
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

/** Returns a function that finds the item of the old list with the same keys. Upstream: `makeMapList`. */
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
