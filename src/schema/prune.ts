import { quote } from "../api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../api/object.ts";
import type { Schema } from "./schema.ts";

/** Members that every object has, whatever its schema says. */
const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
const MAX_STRICT_TEXTS = 100;

/**
 * Removes, in place, what the schema of a custom object does not know, and tells what that was: `unknown field "…"`,
 * at most a hundred, in order of the names. `schema` describes the whole object; its metadata is left alone.
 */
export function pruneBySchema(object: JsonObject, schema: Schema): string[] {
  const unknown: string[] = [];
  pruneObject(object, { ...schema, embeddedResource: true }, "", unknown);
  return unknown;
}

function prune(value: Json, schema: Schema, path: string, unknown: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined)
      for (const [index, item] of value.entries()) prune(item, items, `${path}[${index}]`, unknown);
  } else if (isObject(value)) {
    pruneObject(value, schema, path, unknown);
  }
}

function pruneObject(object: JsonObject, schema: Schema, path: string, unknown: string[]): void {
  for (const name of Object.keys(object).sort()) {
    const field = schema.properties?.get(name) ?? (schema.values === true ? undefined : schema.values);
    const fieldPath = path === "" ? name : `${path}.${name}`;
    if (schema.embeddedResource === true && IDENTITY.has(name)) continue;
    if (field !== undefined) {
      prune(object[name] ?? null, field, fieldPath, unknown);
    } else if (schema.preserveUnknownFields !== true && schema.values === undefined) {
      delete object[name];
      if (unknown.length < MAX_STRICT_TEXTS) unknown.push(`unknown field ${quote(fieldPath)}`);
    }
  }
}
