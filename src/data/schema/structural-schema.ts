import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { addAll } from "../../base/util/add-all.ts";
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

/** The schemas directly inside of a JSONSchemaProps. */
export function propsInside(props: JsonObject): JsonObject[] {
  const { properties, additionalProperties, items, not, allOf, anyOf, oneOf } = props;
  const found = isObject(properties) ? Object.values(properties).filter(isObject) : [];
  for (const one of [additionalProperties, items, not]) if (isObject(one)) found.push(one);
  for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) addAll(found, list.filter(isObject));
  return found;
}

/** Converts `openAPIV3Schema` of a CRD version to a Schema. Inner ones that are known are not converted again. */
export function structuralSchema(props: JsonObject, known?: ReadonlyMap<JsonObject, Schema>): Schema {
  const below = (one: JsonObject): Schema => known?.get(one) ?? structuralSchema(one, known);
  const schema: Record<string, unknown> = {};
  if (props.type !== undefined && props.type !== "") schema.type = props.type as SchemaType;
  for (const member of SAME) if (props[member] !== undefined) schema[member] = props[member];
  for (const [extension, member] of EXTENSIONS) if (props[extension] !== undefined) schema[member] = props[extension];
  if (props.default !== undefined && props.default !== null) schema.default = props.default;
  const { properties, additionalProperties, items, not } = props;
  if (isObject(properties)) {
    schema.properties = new Map(Object.entries(properties).map(([name, one]) => [name, below(one as JsonObject)]));
  }
  if (isObject(additionalProperties)) schema.values = below(additionalProperties);
  else if (additionalProperties === true) schema.values = true;
  else if (additionalProperties === false) schema.forbidsOthers = true;
  if (isObject(items)) schema.items = below(items);
  for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
    const list = props[junctor];
    if (Array.isArray(list)) schema[junctor] = list.filter(isObject).map(below);
  }
  if (isObject(not)) schema.not = below(not);
  const rules = props["x-kubernetes-validations"];
  if (Array.isArray(rules)) schema.validations = rules.filter(isObject).map(validationRule);
  return schema as Schema;
}

function validationRule(rule: JsonObject): ValidationRule {
  return rule as JsonObject & { readonly rule: string } satisfies Record<string, Json | undefined>;
}
