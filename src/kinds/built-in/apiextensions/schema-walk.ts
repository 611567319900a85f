import { isObject, type Json } from "../../../base/api/object.ts";
import type { DefinitionSpec, JsonSchemaProps } from "../../types/custom-resource-definition.ts";

/** The value as a schema; undefined if it is not an object. */
export function asSchema(value: Json | undefined): JsonSchemaProps | undefined {
  return isObject(value) ? (value as JsonSchemaProps) : undefined;
}

/** The schemas of a list. */
export function asSchemas(value: Json | undefined): JsonSchemaProps[] {
  return Array.isArray(value) ? (value.filter(isObject) as JsonSchemaProps[]) : [];
}

/** The schemas of a map, by name. */
export function namedSchemas(value: Json | undefined): [name: string, schema: JsonSchemaProps][] {
  const named: [string, JsonSchemaProps][] = [];
  if (!isObject(value)) return named;
  // There may be tens of thousands: flatMap takes ten times as long.
  for (const [name, one] of Object.entries(value)) if (isObject(one)) named.push([name, one as JsonSchemaProps]);
  return named;
}

const MAPS = ["properties", "patternProperties", "definitions", "dependencies"];
const SINGLES = ["not", "additionalProperties", "additionalItems"];
const JUNCTORS = ["allOf", "anyOf", "oneOf"];

/** Whether `test` is true for a schema or any schema inside it. Upstream: `SchemaHas`. */
export function schemaHas(schema: JsonSchemaProps | undefined, test: (one: JsonSchemaProps) => boolean): boolean {
  const waiting = schema ? [schema] : [];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (test(one)) return true;
    for (const item of Array.isArray(one.items) ? asSchemas(one.items) : [asSchema(one.items)]) {
      if (item) waiting.push(item);
    }
    for (const junctor of JUNCTORS) for (const inner of asSchemas(one[junctor])) waiting.push(inner);
    for (const member of SINGLES) {
      const inner = asSchema(one[member]);
      if (inner) waiting.push(inner);
    }
    for (const map of MAPS) for (const [, inner] of namedSchemas(one[map])) waiting.push(inner);
  }
  return false;
}

/** The schemas of all versions. */
export function schemasOf({ versions = [] }: DefinitionSpec): JsonSchemaProps[] {
  return versions.flatMap(({ schema }) => (schema?.openAPIV3Schema ? [schema.openAPIV3Schema] : []));
}

/** Whether `test` is true for any schema of any version. Upstream: `HasSchemaWith`. */
export function anySchemaHas(spec: DefinitionSpec, test: (one: JsonSchemaProps) => boolean): boolean {
  return schemasOf(spec).some((schema) => schemaHas(schema, test));
}
