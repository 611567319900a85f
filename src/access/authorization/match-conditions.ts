import type { Attributes } from "../../base/api/attributes.ts";
import type { JsonObject } from "../../base/api/object.ts";
import type { TypeProvider } from "../../data/cel/environment.ts";
import { storedExpressions } from "../../data/cel/kubernetes/environment.ts";
import { CompileError, compile, Program, program } from "../../data/cel/program.ts";
import { jsonValue } from "../../data/cel/values/json.ts";
import { listType, mapType, stringType, structType, type Type } from "../../data/cel/values/types.ts";
import { CelError } from "../../data/cel/values/value.ts";
import { joinErrors } from "./rbac.ts";
import { reviewSpec } from "./review-spec.ts";

/** Decides whether a webhook is called. Upstream: `CELMatcher`. */
export interface MatchConditions {
  /** Throws an Error if no condition is false and one cannot be evaluated. */
  match(attributes: Attributes): boolean;
}

/**
 * Cost limit. Compat: `CompileCELExpression` of authorization sets no `cel.CostLimit`; this is the limit of all
 * validation rules of an object.
 */
const LIMIT = 10_000_000;

const struct = (name: string) => structType(`kubernetes.${name}`);
const texts = listType(stringType);
const requirement = struct("SelectorRequirement");
const fieldSelector = struct("FieldSelectorAttributes");
const labelSelector = struct("LabelSelectorAttributes");
const resourceAttributes = struct("ResourceAttributes");
const nonResourceAttributes = struct("NonResourceAttributes");
const request = struct("SubjectAccessReviewSpec");

const selectorFields = { rawSelector: stringType, requirements: listType(requirement) };

/** Compat: `buildRequestType`. */
const STRUCTS: readonly (readonly [type: Type, fields: Readonly<Record<string, Type>>])[] = [
  [
    request,
    {
      resourceAttributes,
      nonResourceAttributes,
      user: stringType,
      groups: texts,
      extra: mapType(stringType, texts),
      uid: stringType,
    },
  ],
  [
    resourceAttributes,
    {
      namespace: stringType,
      verb: stringType,
      group: stringType,
      version: stringType,
      resource: stringType,
      subresource: stringType,
      name: stringType,
      fieldSelector,
      labelSelector,
    },
  ],
  [nonResourceAttributes, { path: stringType, verb: stringType }],
  [fieldSelector, selectorFields],
  [labelSelector, selectorFields],
  [requirement, { key: stringType, operator: stringType, values: texts }],
];

const BY_NAME: ReadonlyMap<string, { readonly type: Type; readonly fields: ReadonlyMap<string, Type> }> = new Map(
  STRUCTS.map(([type, fields]) => [type.name, { type, fields: new Map(Object.entries(fields)) }]),
);

const types: TypeProvider = {
  isWithoutTypeValues: true,
  findType: (name) => BY_NAME.get(name)?.type,
  findField: (type, field) => BY_NAME.get(type)?.fields.get(field),
};

const env = storedExpressions.extend({ types, variables: { request } });

/** Compiles an expression of `matchConditions`. Throws an Error with upstream's message. */
export function compileMatchCondition(text: string): Program {
  const checked = compile(text, env);
  if (checked instanceof CompileError) throw new Error(`compilation failed: ${checked.message}`);
  if (checked.type.kind !== "bool") throw new Error(`must evaluate to bool but got ${checked.type.describe()}`);
  const made = program(checked, env);
  if (made instanceof Program) return made;
  throw new Error(`program instantiation failed: ${made.message}`);
}

/** Compiles conditions that have been validated. */
export function matchConditions(expressions: readonly string[]): MatchConditions {
  const conditions = expressions.map((text) => ({ text, made: compileMatchCondition(text) }));
  return {
    match(attributes) {
      const value = jsonValue(requestOf(attributes));
      const errors: string[] = [];
      for (const { text, made } of conditions) {
        const result = made.evaluate((name) => (name === "request" ? value : undefined), LIMIT).value;
        if (result === false) return false;
        const reason = result instanceof CelError ? result.message : "";
        if (result !== true) errors.push(`cel evaluation error: expression '${text}' resulted in error: ${reason}`);
      }
      if (errors.length > 0) throw new Error(joinErrors(errors));
      return true;
    },
  };
}

const RESOURCE_TEXTS = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];

/** Compat: `convertObjectToUnstructured` keeps the empty texts of a SubjectAccessReviewSpec. */
function requestOf(attributes: Attributes): JsonObject {
  const spec = reviewSpec(attributes, "v1");
  const empty = Object.fromEntries(RESOURCE_TEXTS.map((name) => [name, ""]));
  return {
    user: "",
    groups: [],
    uid: "",
    extra: {},
    ...spec,
    ...(attributes.isResourceRequest
      ? { resourceAttributes: { ...empty, ...(spec.resourceAttributes as JsonObject) } }
      : { nonResourceAttributes: { path: "", verb: "", ...(spec.nonResourceAttributes as JsonObject) } }),
  };
}
