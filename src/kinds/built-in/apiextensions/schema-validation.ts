import { type FieldError, forbiddenField, invalidField } from "../../../base/api/field-error.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { defaultErrors } from "./default-rules.ts";
import type { DefinitionOptions } from "./definition-options.ts";
import { goSchema, hasMember } from "./go-schema.ts";
import { openApiErrors } from "./openapi-rules.ts";
import { RuleErrors } from "./rule-errors.ts";
import { structuralErrors, unsupportedSchema } from "./structural-rules.ts";

/** Fields allowed at the root of a schema with a status subresource, as in upstream's message. */
const ROOT_FIELDS =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const NOT_AT_ROOT = [
  ["id", "$schema", "$ref", "nullable", "default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf"],
  ["not", "additionalProperties", "patternProperties", "dependencies", "additionalItems", "definitions"],
  ["x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys"],
  ["x-kubernetes-list-type", "x-kubernetes-map-type"],
].flat();

/**
 * Validates the schema of a version, or of all versions, of which `version` is the first. Upstream:
 * `validateCustomResourceDefinitionValidation`.
 */
export function schemaErrors(
  schema: JsonSchemaProps | undefined,
  hasStatus: boolean,
  path: string,
  options: DefinitionOptions,
  version: string,
): FieldError[] {
  if (!schema) return [];
  const errors: FieldError[] = [];
  if (hasStatus) addAll(errors, rootErrors(schema, path));
  const at = `${path}.openAPIV3Schema`;
  if (schema.nullable) errors.push(forbiddenField(`${at}.nullable`, "nullable cannot be true at the root"));
  let unsupported: string | undefined;
  let rules: RuleErrors | undefined;
  if (options.requiresStructural) {
    unsupported = unsupportedSchema(schema);
    if (unsupported === undefined) {
      const structural = structuralErrors(schema, at);
      const found = structural.length > 0 ? structural : defaultErrors(schema, at);
      if (found.length === 0) rules = new RuleErrors(schema, at, options, version);
      addAll(errors, found);
    }
  }
  addAll(
    errors,
    openApiErrors(schema, at, options, (one, place) => rules?.errorsOf(one, place) ?? []),
  );
  if (errors.length === 0 && unsupported !== undefined) errors.push(invalidField(at, "", unsupported));
  if (rules) addAll(errors, rules.totalErrors());
  return errors;
}

function rootErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const { type = "" } = schema;
  if (type !== "" && type !== "object") {
    const text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidField(`${path}.openAPIV3Schema.type`, type, text)];
  }
  if (!NOT_AT_ROOT.some((member) => hasMember(schema, member))) return [];
  const text = `only [${ROOT_FIELDS}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidField(`${path}.openAPIV3Schema`, goSchema(schema), text)];
}
