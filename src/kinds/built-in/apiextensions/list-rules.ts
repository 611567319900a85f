import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { getMember } from "../../../base/util/members.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { goSchema } from "./go-schema.ts";
import { asSchema } from "./schema-walk.ts";

const LIST_TYPES = ["atomic", "set", "map"];
const MAP_TYPES = ["atomic", "granular"];

/** Validates x-kubernetes-map-type, -list-type and -list-map-keys of one schema. */
export function listAndMapErrors(schema: JsonSchemaProps, path: string, requiresAtomicSets: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const mapType = schema["x-kubernetes-map-type"];
  const listType = schema["x-kubernetes-list-type"];
  if (mapType !== undefined) {
    addAll(errors, parentType(schema, path, "object", "x-kubernetes-map-type"));
    if (!MAP_TYPES.includes(mapType)) {
      errors.push(notSupportedField(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES));
    }
  }
  if (listType !== undefined) {
    const ofType = parentType(schema, path, "array", "x-kubernetes-list-type");
    addAll(errors, ofType);
    if (ofType.length === 0 && requiresAtomicSets && listType === "set") addAll(errors, setErrors(schema, path));
    if (!LIST_TYPES.includes(listType)) {
      errors.push(notSupportedField(`${path}.x-kubernetes-list-type`, listType, LIST_TYPES));
    }
  }
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (keys.length > 0 && listType !== "map") {
    const text = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? requiredField(at, text) : invalidField(at, listType, text));
  }
  if (listType === "map") addAll(errors, mapErrors(schema, path, keys));
  return errors;
}

function parentType({ type = "" }: JsonSchemaProps, path: string, wanted: string, extension: string): FieldError[] {
  if (type === wanted) return [];
  const text = `must be ${wanted} if ${extension} is specified`;
  return [type === "" ? requiredField(`${path}.type`, text) : invalidField(`${path}.type`, type, text)];
}

function setErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const items = asSchema(schema.items);
  const text = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items?.["x-kubernetes-list-type"];
  if (items?.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalidField(`${path}.items.x-kubernetes-list-type`, listType, text)];
  }
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    // Compat: `ValidateCustomResourceDefinitionOpenAPISchema` shows the list type of the items here.
    return [invalidField(`${path}.items.x-kubernetes-map-type`, listType, text)];
  }
  return [];
}

function mapErrors(schema: JsonSchemaProps, path: string, keys: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(requiredField(keysPath, "must not be empty if x-kubernetes-list-type is map"));
  const items = asSchema(schema.items);
  if (schema.items === undefined) {
    errors.push(requiredField(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
  } else if (!items) {
    const shown = { Schema: null, JSONSchemas: (schema.items as JsonSchemaProps[]).map(goSchema) };
    const text = "must only have a single schema if x-kubernetes-list-type is map";
    errors.push(invalidField(`${path}.items`, shown, text));
  } else if (items.type !== "object") {
    const text = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalidField(`${path}.items.type`, items.type ?? "", text));
  } else addAll(errors, keyErrors(items, path, keys));
  return errors;
}

function keyErrors(items: JsonSchemaProps, path: string, keys: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties && getMember(items.properties, key);
    if (!isObject(property)) {
      errors.push(invalidField(keysPath, keys, "entries must all be names of item properties"));
    } else if (property.type === "array" || property.type === "object") {
      const text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidField(`${path}.items.properties[${key}].type`, items.type, text));
    }
    if (seen.has(key)) errors.push(invalidField(keysPath, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
  return errors;
}

/** Validates the items of lists that are sets or maps. Upstream: `validateMapListKeysMapSet`. */
export function mapListErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  const items = asSchema(schema.items);
  const listType = schema["x-kubernetes-list-type"];
  if (!items || (listType !== "set" && listType !== "map")) return [];
  const errors: FieldError[] = [];
  if (items.nullable) {
    const text = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbiddenField(`${path}.items.nullable`, text));
  }
  if (listType !== "map") return errors;
  const required = new Set(items.required);
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const property = items.properties && getMember(items.properties, key);
    if (!isObject(property)) continue;
    const at = `${path}.items.properties[${key}]`;
    const why = "this property is in x-kubernetes-list-map-keys, so it";
    if (!required.has(key) && property.default === undefined) {
      errors.push(requiredField(`${at}.default`, `${why} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbiddenField(`${at}.nullable`, `${why} cannot be nullable`));
  }
  return errors;
}
