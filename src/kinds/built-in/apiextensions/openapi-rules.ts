import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { type DefinitionOptions, hasUnknownType, OPENAPI_TYPES } from "./definition-options.ts";
import { findField } from "./field-path.ts";
import { listAndMapErrors, mapListErrors } from "./list-rules.ts";
import { asSchema, asSchemas, namedSchemas } from "./schema-walk.ts";
import { unsupportedSchema } from "./structural-rules.ts";

/** Context of a schema. Upstream: `specStandardValidator`. */
interface Place {
  readonly path: string;
  /** Why it must not have a default. */
  readonly forbidsDefault?: string;
  /** Whether it describes TypeMeta or ObjectMeta. */
  readonly isMeta: boolean;
  readonly isRoot: boolean;
}

/** Compiles the rules of an otherwise valid schema. Returns their errors. */
export type CompileRules = (schema: JsonSchemaProps, path: string) => FieldError[];

const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

/**
 * Validates a schema as OpenAPI v3, as far as Kubernetes supports it. Upstream:
 * `ValidateCustomResourceDefinitionOpenAPISchema`. If `compileRules` is omitted, the expressions of
 * x-kubernetes-validations are not checked.
 */
export function openApiErrors(
  schema: JsonSchemaProps,
  path: string,
  options: DefinitionOptions,
  compileRules?: CompileRules,
): FieldError[] {
  const walk = new Walk(options, compileRules);
  const errors = walk.errors(schema, { path, isMeta: false, isRoot: true });
  return [...errors, ...walk.ruleErrors];
}

class Walk {
  readonly #options: DefinitionOptions;
  readonly #compileRules: CompileRules | undefined;
  /** Errors of expressions, which are reported after all others. */
  readonly ruleErrors: FieldError[] = [];

  constructor(options: DefinitionOptions, compileRules: CompileRules | undefined) {
    this.#options = options;
    this.#compileRules = compileRules;
  }

  errors(schema: JsonSchemaProps, place: Place): FieldError[] {
    const { path } = place;
    const errors = this.#keywordErrors(schema, place);
    if (schema.uniqueItems) {
      const text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
      errors.push(forbiddenField(`${path}.uniqueItems`, text));
    }
    addAll(errors, this.#valuesErrors(schema, place));
    for (const [name, one] of namedSchemas(schema.properties)) {
      addAll(errors, this.errors(one, placeOfProperty(schema, name, place)));
    }
    const below = (suffix: string): Place => ({ ...place, path: `${path}.${suffix}`, isRoot: false });
    if (schema.not) addAll(errors, this.errors(schema.not, below("not")));
    for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
      for (const [index, one] of asSchemas(schema[junctor]).entries()) {
        addAll(errors, this.errors(one, below(`${junctor}[${index}]`)));
      }
    }
    for (const [name, one] of namedSchemas(schema.definitions)) {
      addAll(errors, this.errors(one, below(`definitions[${name}]`)));
    }
    const items = asSchema(schema.items);
    if (items) addAll(errors, this.errors(items, below("items")));
    for (const [index, one] of asSchemas(schema.items).entries()) {
      addAll(errors, this.errors(one, below(`items[${index}]`)));
    }
    for (const [name, one] of namedSchemas(schema.dependencies)) {
      addAll(errors, this.errors(one, below(`dependencies[${name}]`)));
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
      errors.push(invalidField(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
    }
    addAll(errors, listAndMapErrors(schema, path, this.#options.requiresAtomicSets));
    if (this.#options.requiresSoundMapLists) addAll(errors, mapListErrors(schema, path));
    addAll(errors, rulesErrors(schema, path));
    if (errors.length === 0 && schema["x-kubernetes-validations"]?.length && this.#compileRules) {
      addAll(this.ruleErrors, this.#compileRules(schema, path));
    }
    return errors;
  }

  #valuesErrors(schema: JsonSchemaProps, place: Place): FieldError[] {
    const { additionalProperties } = schema;
    if (additionalProperties === undefined) return [];
    const errors: FieldError[] = [];
    const path = `${place.path}.additionalProperties`;
    const hasProperties = namedSchemas(schema.properties).length > 0;
    if (hasProperties && additionalProperties !== true) {
      errors.push(forbiddenField(path, "additionalProperties and properties are mutual exclusive"));
    }
    const values = asSchema(additionalProperties);
    if (!values) return errors;
    const forbids = place.isMeta ? { forbidsDefault: "inside additionalProperties applying to object metadata" } : {};
    addAll(errors, this.errors(values, { ...place, ...forbids, path, isRoot: false }));
    return errors;
  }

  /** Upstream: `validate` of the specStandardValidatorV3. */
  #keywordErrors(schema: JsonSchemaProps, { path, forbidsDefault, isMeta }: Place): FieldError[] {
    const errors: FieldError[] = [];
    if (this.#options.requiresKnownTypes && hasUnknownType(schema)) {
      errors.push(notSupportedField(`${path}.type`, schema.type, OPENAPI_TYPES));
    }
    if (schema.default !== undefined && forbidsDefault !== undefined) {
      errors.push(forbiddenField(`${path}.default`, `must not be set ${forbidsDefault}`));
    }
    for (const keyword of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]) {
      const value = schema[keyword];
      // Compat: `len(schema.PatternProperties) != 0`, but `schema.Dependencies != nil`.
      const isCounted = keyword === "patternProperties" || keyword === "definitions";
      const isEmpty = isCounted && isObject(value) && Object.keys(value).length === 0;
      if (value !== undefined && value !== "" && !isEmpty) {
        errors.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
      }
    }
    if (schema.type === "null") {
      errors.push(forbiddenField(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
    }
    if (Array.isArray(schema.items) && schema.items.length > 0) {
      errors.push(forbiddenField(`${path}.items`, "items must be a schema object and not an array"));
    }
    if (isMeta && schema["x-kubernetes-embedded-resource"]) {
      const text = "must not be used inside of resource meta";
      errors.push(forbiddenField(`${path}.x-kubernetes-embedded-resource`, text));
    }
    return errors;
  }
}

function placeOfProperty(schema: JsonSchemaProps, name: string, place: Place): Place {
  const { isRoot } = place;
  const isMeta = (isRoot || schema["x-kubernetes-embedded-resource"] === true) && META_FIELDS.has(name);
  return {
    ...place,
    path: `${place.path}.properties[${name}]`,
    isMeta: place.isMeta || isMeta,
    ...(isMeta && isRoot && { forbidsDefault: `in top-level ${name}` }),
    isRoot: false,
  };
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const LINE_BREAK = /[\n\r]/;

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Validates x-kubernetes-validations except their expressions. */
function rulesErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, one] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const [rule, message, fieldPath] = [textOf(one.rule), textOf(one.message), textOf(one.fieldPath)];
    const text = message.trim();
    if (rule.trim() === "") errors.push(requiredField(`${at}.rule`, "rule is not specified"));
    else if (message !== "" && text === "") {
      errors.push(invalidField(`${at}.message`, message, "must be non-empty if specified"));
    } else if (LINE_BREAK.test(text)) {
      errors.push(invalidField(`${at}.message`, message, "must not contain line breaks"));
    } else if (LINE_BREAK.test(rule.trim()) && text === "") {
      errors.push(requiredField(`${at}.message`, "message must be specified if rule contains line breaks"));
    }
    const expression = textOf(one.messageExpression);
    if (expression !== "" && expression.trim() === "") {
      const detail = "messageExpression must be non-empty if specified";
      errors.push(requiredField(`${at}.messageExpression`, detail));
    }
    if (one.reason !== undefined && !REASONS.includes(textOf(one.reason))) {
      errors.push(notSupportedField(`${at}.reason`, one.reason, REASONS));
    }
    addAll(errors, fieldPathErrors(schema, fieldPath, `${at}.fieldPath`));
  }
  return errors;
}

function fieldPathErrors(schema: JsonSchemaProps, fieldPath: string, at: string): FieldError[] {
  if (fieldPath === "") return [];
  const errors: FieldError[] = [];
  if (fieldPath.trim() === "") errors.push(invalidField(at, fieldPath, "must be non-empty if specified"));
  if (LINE_BREAK.test(fieldPath)) errors.push(invalidField(at, fieldPath, "must not contain line breaks"));
  if (unsupportedSchema(schema) === undefined && "error" in findField(fieldPath, schema, true)) {
    errors.push(invalidField(at, fieldPath, "must be a valid path"));
  }
  return errors;
}
