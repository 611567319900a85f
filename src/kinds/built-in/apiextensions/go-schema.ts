import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { sorted } from "../../../data/schema/structural/kinds-of-values.ts";
import type { DefinitionVersion, JsonSchemaProps } from "../../types/custom-resource-definition.ts";

/** Fields of the internal JSONSchemaProps in order, the corresponding JSON field, and its zero value. */
const FIELDS: readonly [field: string, member: string, zero: Json, nested?: "one" | "list" | "map"][] = [
  ["ID", "id", ""],
  ["Schema", "$schema", ""],
  ["Ref", "$ref", null],
  ["Description", "description", ""],
  ["Type", "type", ""],
  ["Nullable", "nullable", false],
  ["Format", "format", ""],
  ["Title", "title", ""],
  ["Default", "default", null],
  ["Maximum", "maximum", null],
  ["ExclusiveMaximum", "exclusiveMaximum", false],
  ["Minimum", "minimum", null],
  ["ExclusiveMinimum", "exclusiveMinimum", false],
  ["MaxLength", "maxLength", null],
  ["MinLength", "minLength", null],
  ["Pattern", "pattern", ""],
  ["MaxItems", "maxItems", null],
  ["MinItems", "minItems", null],
  ["UniqueItems", "uniqueItems", false],
  ["MultipleOf", "multipleOf", null],
  ["Enum", "enum", null],
  ["MaxProperties", "maxProperties", null],
  ["MinProperties", "minProperties", null],
  ["Required", "required", null],
  ["Items", "items", null],
  ["AllOf", "allOf", null, "list"],
  ["OneOf", "oneOf", null, "list"],
  ["AnyOf", "anyOf", null, "list"],
  ["Not", "not", null, "one"],
  ["Properties", "properties", null, "map"],
  ["AdditionalProperties", "additionalProperties", null],
  ["PatternProperties", "patternProperties", null, "map"],
  ["Dependencies", "dependencies", null],
  ["AdditionalItems", "additionalItems", null],
  ["Definitions", "definitions", null, "map"],
  ["ExternalDocs", "externalDocs", null],
  ["Example", "example", null],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", null],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", false],
  ["XIntOrString", "x-kubernetes-int-or-string", false],
  ["XListMapKeys", "x-kubernetes-list-map-keys", null],
  ["XListType", "x-kubernetes-list-type", null],
  ["XMapType", "x-kubernetes-map-type", null],
  ["XValidations", "x-kubernetes-validations", null],
];

/**
 * Compat: the internal type JSONSchemaProps has no JSON names; field errors that show a whole schema print Go names.
 */
export function goSchema(schema: JsonSchemaProps): JsonObject {
  return Object.fromEntries(
    FIELDS.map(([field, member, zero, nested]) => {
      const value = schema[member];
      return [field, value === undefined ? zero : goMember(field, value, nested)];
    }),
  );
}

function goMember(field: string, value: Json, nested: "one" | "list" | "map" | undefined): Json {
  if (nested === "one" && isObject(value)) return goSchema(value as JsonSchemaProps);
  if (nested === "list" && Array.isArray(value)) return value.map((one) => goSchema(one as JsonSchemaProps));
  if (nested === "map" && isObject(value)) {
    const names = Object.keys(value).sort();
    return Object.fromEntries(names.map((name) => [name, goSchema(value[name] as JsonSchemaProps)]));
  }
  if (field === "Items") {
    return Array.isArray(value)
      ? { Schema: null, JSONSchemas: value.map((one) => goSchema(one as JsonSchemaProps)) }
      : { Schema: goSchema(value as JsonSchemaProps), JSONSchemas: null };
  }
  if (field === "Dependencies" && isObject(value)) {
    const names = Object.keys(value).sort();
    return Object.fromEntries(names.map((name) => [name, goDependency(value[name] ?? null)]));
  }
  if (field === "AdditionalProperties" || field === "AdditionalItems") {
    return typeof value === "boolean"
      ? { Allows: value, Schema: null }
      : { Allows: true, Schema: goSchema(value as JsonSchemaProps) };
  }
  if (field === "ExternalDocs" && isObject(value)) {
    return { Description: value.description ?? "", URL: value.url ?? "" };
  }
  if (field === "XValidations" && Array.isArray(value)) return value.map((rule) => goRule(rule as JsonObject));
  return sorted(value);
}

/** JSONSchemaPropsOrStringArray. */
function goDependency(value: Json): Json {
  return Array.isArray(value)
    ? { Schema: null, Property: value }
    : { Schema: goSchema(value as JsonSchemaProps), Property: null };
}

/** Whether a field of a schema is not the zero value of its Go type. Upstream: `reflect.DeepEqual`. */
export function hasMember(schema: JsonSchemaProps, member: string): boolean {
  const [, , zero = null] = FIELDS.find(([, name]) => name === member) ?? [];
  return schema[member] !== undefined && schema[member] !== zero;
}

/** A rule of x-kubernetes-validations in the same form. */
export function goRule(rule: JsonObject): JsonObject {
  const { rule: text = "", message = "", messageExpression = "", reason = null, fieldPath = "" } = rule;
  return {
    Rule: text,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

/** The versions of a definition in the same form. */
export function goVersions(versions: readonly DefinitionVersion[]): Json {
  if (versions.length === 0) return versions as [];
  return versions.map((version) => {
    const { name = "", served = false, storage = false, deprecated = false, schema, subresources } = version;
    const openApi = schema?.openAPIV3Schema;
    return {
      Name: name,
      Served: served,
      Storage: storage,
      Deprecated: deprecated,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema: schema ? { OpenAPIV3Schema: openApi ? goSchema(openApi) : null } : null,
      Subresources: subresources ? goSubresources(subresources) : null,
      AdditionalPrinterColumns: version.additionalPrinterColumns?.map(goColumn) ?? null,
      SelectableFields: version.selectableFields?.map(({ jsonPath = "" }) => ({ JSONPath: jsonPath })) ?? null,
    };
  });
}

function goSubresources({ status, scale }: NonNullable<DefinitionVersion["subresources"]>): JsonObject {
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = null } = scale ?? {};
  return {
    Status: status ? {} : null,
    Scale: scale
      ? {
          SpecReplicasPath: specReplicasPath,
          StatusReplicasPath: statusReplicasPath,
          LabelSelectorPath: labelSelectorPath,
        }
      : null,
  };
}

function goColumn(column: JsonObject): JsonObject {
  const { name = "", type = "", format = "", description = "", priority = 0, jsonPath = "" } = column;
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath };
}
