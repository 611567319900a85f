import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { type Pause, visitInSteps } from "../../../resources/pace.ts";
import { withoutUndefined } from "./openapi-schemas.ts";

const KINDS = "x-kubernetes-group-version-kind";
const PRESERVE = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED = "x-kubernetes-embedded-resource";
const OBJECT_MEMBERS: readonly string[] = ["apiVersion", "kind", "metadata"];

/** Converts a reference to a named schema to version 2. */
export function swaggerReference({ $ref }: JsonObject): JsonObject {
  return { $ref: String($ref).replace("#/components/schemas/", "#/definitions/") };
}

/** Converts a published built-in schema from version 3 to version 2. */
export function builtInDefinition(schema: JsonObject): JsonObject {
  const { default: _default, oneOf, allOf, ...facts } = schema;
  const reference = soleReference(allOf) ?? schema;
  if (typeof reference.$ref === "string") return { ...facts, ...swaggerReference(reference) };
  // Compat: IntOrString and Quantity are of type string, as OpenAPI v2 has no `oneOf`.
  const type = oneOf === undefined ? facts.type : "string";
  return withoutUndefined({ ...facts, type, ...nested(schema, builtInDefinition) });
}

/** Converts a published custom resource schema from version 3 to version 2, with pauses, because it may be large. */
export async function customDefinition(schema: JsonObject, pause: Pause): Promise<JsonObject> {
  // Compat: kubectl treats listed properties as the only ones, so with `x-kubernetes-preserve-unknown-fields` none are
  // listed. Upstream: `ToStructuralOpenAPIV2`.
  if (schema[PRESERVE] === true) return { type: "object", [KINDS]: schema[KINDS] };
  const known = new Map<JsonObject, JsonObject>();
  await visitInSteps(schema, shapesInside, (one) => known.set(one, customShape(one, known)), pause);
  return known.get(schema) ?? {};
}

function shapesInside({ properties, items, additionalProperties }: JsonObject): JsonObject[] {
  const members = isObject(properties) ? Object.values(properties) : [];
  return [...members, items, additionalProperties].filter(isObject);
}

/**
 * Compat: like `ToStructuralOpenAPIV2`, omits `nullable`, `anyOf`, `oneOf` and `not`, which older kubectl does not
 * understand.
 */
function customShape(schema: JsonObject, known: ReadonlyMap<JsonObject, JsonObject>): JsonObject {
  const { default: _default, allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, nullable, ...facts } = schema;
  const reference = soleReference(allOf) ?? schema;
  if (typeof reference.$ref === "string") return { ...facts, ...swaggerReference(reference) };
  const isOpen = schema[PRESERVE] === true;
  const hides = nullable === true || isOpen;
  const items = hides ? undefined : schema.items;
  const isUntyped =
    nullable === true || (schema.type === "array" && items === undefined) || (isOpen && schema.type === "object");
  const properties = hides ? remaining(schema, isOpen) : schema.properties;
  const visible = { items, properties, additionalProperties: schema.additionalProperties };
  return withoutUndefined({
    ...facts,
    type: isUntyped ? undefined : schema.type,
    required: requiredOf(schema, isOpen, hides),
    ...nested(visible, (one) => known.get(one) ?? customShape(one, known)),
  });
}

/** An embedded object keeps the members that every object has, unless it preserves unknown fields. */
function remaining(schema: JsonObject, isOpen: boolean): JsonObject | undefined {
  if (isOpen || schema[EMBEDDED] !== true || !isObject(schema.properties)) return undefined;
  return Object.fromEntries(Object.entries(schema.properties).filter(([name]) => OBJECT_MEMBERS.includes(name)));
}

function requiredOf(schema: JsonObject, isOpen: boolean, hides: boolean): Json[] | undefined {
  const { required, properties, additionalProperties } = schema;
  if (!Array.isArray(required) || isNullable(additionalProperties)) return undefined;
  const members = isObject(properties) ? properties : {};
  const left = required.filter((name) => {
    // An embedded object that preserves unknown fields is not known to be an object.
    if (isOpen && schema[EMBEDDED] === true) return !OBJECT_MEMBERS.includes(String(name));
    return hides || !isNullable(members[String(name)]);
  });
  return left.length === 0 ? undefined : left;
}

function isNullable(schema: Json | undefined): boolean {
  return isObject(schema) && schema.nullable === true;
}

function soleReference(allOf: Json | undefined): JsonObject | undefined {
  const first = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
  return isObject(first) && typeof first.$ref === "string" ? first : undefined;
}

function nested(schema: JsonObject, convert: (schema: JsonObject) => JsonObject): JsonObject {
  const { properties, items, additionalProperties } = schema;
  const members = isObject(properties)
    ? Object.entries(properties).map(([name, member]) => [name, isObject(member) ? convert(member) : member])
    : undefined;
  return {
    properties: members === undefined ? undefined : Object.fromEntries(members),
    items: isObject(items) ? convert(items) : items,
    additionalProperties: isObject(additionalProperties) ? convert(additionalProperties) : additionalProperties,
  };
}
