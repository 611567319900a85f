import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import type { Schema, SchemaType, ValidationRule } from "./schema.ts";

/** Members of JSONSchemaProps with the same name in Schema. */
const SAME = [
  "format",
  "title",
  "description",
  "nullable",
  "required",
  "enum",
  "example",
  "externalDocs",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "multipleOf",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "maxProperties",
  "minProperties",
] as const;

/** Extensions, and their names in Schema. */
const EXTENSIONS = [
  ["x-kubernetes-preserve-unknown-fields", "preserveUnknownFields"],
  ["x-kubernetes-embedded-resource", "embeddedResource"],
  ["x-kubernetes-int-or-string", "intOrString"],
  ["x-kubernetes-list-type", "listType"],
  ["x-kubernetes-list-map-keys", "listMapKeys"],
  ["x-kubernetes-map-type", "mapType"],
] as const;

/** Converts `openAPIV3Schema` of a CRD version to a Schema. */
export function structuralSchema(props: JsonObject): Schema {
  const schema: Record<string, unknown> = {};
  if (props.type !== undefined && props.type !== "") schema.type = props.type as SchemaType;
  for (const member of SAME) if (props[member] !== undefined) schema[member] = props[member];
  for (const [extension, member] of EXTENSIONS) if (props[extension] !== undefined) schema[member] = props[extension];
  if (props.default !== undefined && props.default !== null) schema.default = props.default;
  const { properties, additionalProperties, items, not } = props;
  if (isObject(properties)) {
    schema.properties = new Map(
      Object.entries(properties).map(([name, one]) => [name, structuralSchema(one as JsonObject)]),
    );
  }
  if (isObject(additionalProperties)) schema.values = structuralSchema(additionalProperties);
  else if (additionalProperties === true) schema.values = true;
  else if (additionalProperties === false) schema.forbidsOthers = true;
  if (isObject(items)) schema.items = structuralSchema(items);
  for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
    const list = props[junctor];
    if (Array.isArray(list)) schema[junctor] = list.filter(isObject).map(structuralSchema);
  }
  if (isObject(not)) schema.not = structuralSchema(not);
  const rules = props["x-kubernetes-validations"];
  if (Array.isArray(rules)) schema.validations = rules.filter(isObject).map(validationRule);
  return schema as Schema;
}

function validationRule(rule: JsonObject): ValidationRule {
  return rule as JsonObject & { readonly rule: string } satisfies Record<string, Json | undefined>;
}
