import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../schema.ts";

/** Members that every object has, whatever its schema. */
const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Removes fields that the schema of a custom object does not declare, in place. Returns `unknown field "…"` messages
 * sorted by path. `schema` describes the whole object. Metadata, also of embedded objects, is not pruned.
 */
export function pruneBySchema(object: JsonObject, schema: Schema): string[] {
  const unknown: string[] = [];
  prune(object, { ...schema, embeddedResource: true }, undefined, unknown);
  return unknown.sort().map((path) => `unknown field "${path}"`);
}

/** Without a schema, all members are unknown. An undefined path is the root, as opposed to a member named "". */
function prune(value: Json, schema: Schema | undefined, path: string | undefined, unknown: string[]): void {
  if (Array.isArray(value)) pruneItems(value, schema, path, unknown);
  else if (isObject(value)) pruneMembers(value, schema, path, unknown);
}

function pruneItems(list: readonly Json[], schema: Schema | undefined, path = "", unknown: string[]): void {
  const { preserveUnknownFields, items } = schema ?? {};
  if (preserveUnknownFields === true && items === undefined) return;
  // preserveUnknownFields of a list also applies to its items.
  const item = preserveUnknownFields === true ? { ...items, preserveUnknownFields } : items;
  for (const [index, one] of list.entries()) prune(one, item, `${path}[${index}]`, unknown);
}

function pruneMembers(object: JsonObject, schema: Schema = {}, path: string | undefined, unknown: string[]): void {
  for (const name of Object.keys(object)) {
    if (schema.embeddedResource === true && IDENTITY.has(name)) continue;
    const field = path === undefined ? name : `${path}.${name}`;
    const property = schema.properties?.get(name);
    if (property !== undefined) prune(object[name] ?? null, property, field, unknown);
    else if (schema.values !== undefined || schema.forbidsOthers === true) {
      // Compat: under `additionalProperties: true`, and false, scalars are kept and objects are emptied.
      prune(object[name] ?? null, schema.values === true ? undefined : schema.values, field, unknown);
    } else if (schema.preserveUnknownFields !== true) {
      delete object[name];
      unknown.push(field);
    }
  }
}

/**
 * Removes nulls from fields that are not nullable and have no default, in place. Compat:
 * defaulting.PruneNonNullableNullsWithoutDefaults; a field with a default gets that instead.
 */
export function pruneNulls(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) for (const item of value) pruneNulls(item, items);
    return;
  }
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const field = schema.properties?.get(name) ?? (schema.values === true ? undefined : schema.values);
    if (field === undefined || member === undefined) continue;
    if (member !== null) pruneNulls(member, field);
    else if (field.nullable !== true && field.default === undefined) delete value[name];
  }
}
