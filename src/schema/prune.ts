import { quote } from "../api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../api/object.ts";
import type { Schema } from "./schema.ts";

/** Members that every object has, whatever its schema says. */
const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Removes, in place, what the schema of a custom object does not know, and tells what that was: `unknown field "…"`, in
 * the order of the paths. `schema` describes the whole object; metadata, there and in embedded objects, is left alone.
 */
export function pruneBySchema(object: JsonObject, schema: Schema): string[] {
  const unknown: string[] = [];
  prune(object, { ...schema, embeddedResource: true }, "", unknown);
  return unknown.sort().map((path) => `unknown field ${quote(path)}`);
}

/** Without a schema nothing in an object is known. */
function prune(value: Json, schema: Schema | undefined, path: string, unknown: string[]): void {
  if (Array.isArray(value)) pruneItems(value, schema, path, unknown);
  else if (isObject(value)) pruneMembers(value, schema, path, unknown);
}

function pruneItems(list: readonly Json[], schema: Schema | undefined, path: string, unknown: string[]): void {
  const { preserveUnknownFields, items } = schema ?? {};
  if (preserveUnknownFields === true && items === undefined) return;
  // What is preserved in a list is preserved in its items, too.
  const item = preserveUnknownFields === true ? { ...items, preserveUnknownFields } : items;
  for (const [index, one] of list.entries()) prune(one, item, `${path}[${index}]`, unknown);
}

function pruneMembers(object: JsonObject, schema: Schema = {}, path: string, unknown: string[]): void {
  for (const name of Object.keys(object)) {
    if (schema.embeddedResource === true && IDENTITY.has(name)) continue;
    const field = path === "" ? name : `${path}.${name}`;
    const property = schema.properties?.get(name);
    if (property !== undefined) prune(object[name] ?? null, property, field, unknown);
    else if (schema.values !== undefined) {
      // Compat: under `additionalProperties: true` scalars stay and objects lose all they hold.
      prune(object[name] ?? null, schema.values === true ? undefined : schema.values, field, unknown);
    } else if (schema.preserveUnknownFields !== true) {
      delete object[name];
      unknown.push(field);
    }
  }
}
