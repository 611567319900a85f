import { ApiError } from "../../../base/api/api-error.ts";
import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import { trimSpace } from "../../../data/cel/kubernetes/strings.ts";
import { type CompiledExpression, PolicyCompiler } from "../../../data/cel/policies/compiler.ts";
import { JsonPatchValue, ObjectValue } from "../../../data/cel/policies/object-types.ts";
import { RETURNS } from "../../../data/cel/policies/returns.ts";
import { toJson, typeNameErrors } from "../../../data/cel/policies/to-json.ts";
import { CelError, ListValue, type Value } from "../../../data/cel/values/value.ts";
import type { Shape } from "../../../data/patch/apply/shape.ts";
import { jsonPatch, parseJsonPatch } from "../../../data/patch/json-patch.ts";
import type { Mutation, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import { MutationError, mergeConfiguration } from "./apply-configuration.ts";
import { Evaluation, OutOfBudget, type PolicyInputs } from "./evaluation.ts";
import { compileConditions, type PolicyConditions } from "./policy-conditions.ts";

/** Compat: `RuntimeCELCostBudget`. */
const BUDGET = 10_000_000;

/** The result of a mutation: not decoded yet, and without defaults. */
export interface Mutated {
  readonly object: KubeObject;
  /** Unknown fields are an error. True for a JSON patch; an apply configuration was checked before. */
  readonly isStrict: boolean;
}

/** The object that a mutation changes. */
interface Subject {
  readonly object: KubeObject;
  /** Undefined if apply configurations of the kind are not supported. */
  readonly shape: Shape | undefined;
  /** GroupVersionKind as text. */
  readonly kind: string;
  readonly inputs: PolicyInputs;
}

interface CompiledMutation {
  readonly isPatch: boolean;
  readonly expression: CompiledExpression;
}

/** The expressions of a MutatingAdmissionPolicy. Upstream: `mutating.PolicyEvaluator`. */
export class Mutator {
  readonly conditions: PolicyConditions | undefined;
  readonly #compiler = new PolicyCompiler(true);
  readonly #mutations: readonly CompiledMutation[];

  constructor(spec: PolicySpec) {
    const scope = { params: spec.paramKind !== undefined, authorizer: true };
    for (const { name = "", expression = "" } of spec.variables ?? []) {
      this.#compiler.addVariable(name, expression, scope);
    }
    this.conditions = compileConditions(spec, this.#compiler);
    this.#mutations = (spec.mutations ?? []).map((mutation) => this.#compile(mutation, { ...scope, patchTypes: true }));
  }

  get size(): number {
    return this.#mutations.length;
  }

  #compile({ patchType, jsonPatch, applyConfiguration }: Mutation, scope: Parameters<PolicyCompiler["compile"]>[2]) {
    const isPatch = patchType === "JSONPatch";
    const text = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? "";
    return {
      isPatch,
      expression: this.#compiler.compile(text, isPatch ? RETURNS.jsonPatch : RETURNS.applyConfiguration, scope),
    };
  }

  /**
   * Applies one mutation to an object. Undefined if nothing changes. Throws MutationError, and ApiError for an error
   * that ends the request at once.
   */
  mutate(index: number, { object, shape, kind, inputs }: Subject): Mutated | undefined {
    const { isPatch, expression } = this.#mutations[index] as CompiledMutation;
    if (expression.error !== undefined) throw new MutationError(expression.error);
    const value = this.#evaluate(expression, inputs);
    if (isPatch) return applyOperations(object, operationsOf(value));
    const configuration = toJson(value);
    const mistakes = typeNameErrors(value);
    if (mistakes.length > 0) throw new MutationError(`type mismatch: ${mistakes.join("\n")}`);
    if (configuration instanceof CelError) throw new MutationError(`invalid return type: ${configuration.message}`);
    if (!shape) {
      const text = "failed to convert patch object to typed object: no corresponding type for";
      throw new MutationError(`error applying patch: ${text} ${kind}`);
    }
    return { object: mergeConfiguration(shape, object, configuration as JsonObject), isStrict: false };
  }

  #evaluate(expression: CompiledExpression, inputs: PolicyInputs): Value {
    try {
      const result = new Evaluation(inputs, this.#compiler.variables, BUDGET).evaluate(expression);
      if (result.error !== undefined) throw new MutationError(result.error);
      return result.value;
    } catch (error) {
      if (error instanceof OutOfBudget) throw new MutationError(error.message);
      throw error;
    }
  }
}

const NO_JSON = "JSONPath valueExpression evaluated to a type that could not marshal to JSON";

/** Converts a CEL value to the operations of a JSON patch. Upstream: `evaluatePatchExpression`. */
function operationsOf(value: Value): Json[] {
  const operations: Json[] = [];
  if (!(value instanceof ListValue)) {
    throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array");
  }
  for (let index = 0; index < value.size; index++) {
    const item = value.at(index);
    const fields = item instanceof JsonPatchValue ? item.fields : new Map<string, Value>();
    const operation: JsonObject = { op: textOf(fields.get("op")), path: textOf(fields.get("path")) };
    const from = textOf(fields.get("from"));
    if (from !== "") operation.from = from;
    const given = fields.get("value");
    if (given !== undefined) operation.value = patchValue(given);
    operations.push(operation);
  }
  return operations;
}

const textOf = (value: Value | undefined): string => (typeof value === "string" ? value : "");

function patchValue(given: Value): Json {
  const json = toJson(given);
  const mistakes = given instanceof ObjectValue ? typeNameErrors(given) : [];
  if (mistakes.length > 0) throw new MutationError(`type mismatch: ${mistakes.join("\n")}`);
  if (json instanceof CelError) throw new MutationError(`${NO_JSON}: ${json.message}`);
  return json;
}

/** Undefined if a `test` operation failed, which changes nothing. */
function applyOperations(object: KubeObject, operations: Json[]): Mutated | undefined {
  try {
    const patched = jsonPatch(object, parseJsonPatch(operations, false));
    return { object: patched as KubeObject, isStrict: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const text = typeof error.cause === "string" ? error.cause : error.message;
    if (text.endsWith(": test failed")) return undefined;
    throw new MutationError(`JSON Patch: ${trimSpace(text)}`);
  }
}
