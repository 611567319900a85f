import { isObject, type JsonObject } from "../../base/api/object.ts";
import { type Decoded, decodeBySchema } from "../../data/schema/decode.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { withReadDefaults } from "../../data/schema/structural/read-defaults.ts";
import { traitsOf } from "../../data/schema/structural/traits.ts";
import { rulesOf } from "../validation-rules/validate-rules.ts";

const TEXT: Schema = { type: "string" };

/** Adds the members that every object has to the schema of a kind without a Go type. */
export function withObjectMembers(schema: Schema, objectMeta: Schema): Schema {
  const traits = traitsOf(schema);
  const complete = traits.hasEmbedded ? withEmbeddedMembers(schema, objectMeta) : schema;
  const own = [...(complete.properties ?? [])].filter(([name]) => !MEMBERS.has(name));
  const members = [["apiVersion", TEXT] as const, ["kind", TEXT] as const, ["metadata", objectMeta] as const];
  const read = traits.hasEmbedded ? withReadDefaults(schema, (embedded) => readMetadata(embedded, objectMeta)) : schema;
  const declared = { schema: read, traits, ...(traits.hasRules && { rules: rulesOf(schema) }) };
  return { ...schema, declared, type: "object", properties: new Map([...members, ...own]) };
}

/** Adds these members to all embedded objects. Upstream: `addEmbeddedProperties`. */
function withEmbeddedMembers(schema: Schema, objectMeta: Schema): Schema {
  const { properties, items, values, embeddedResource } = schema;
  const below = (one: Schema) => withEmbeddedMembers(one, objectMeta);
  const own = [...(properties ?? [])].map(([name, one]) => [name, below(one)] as const);
  const members = [["apiVersion", TEXT] as const, ["kind", TEXT] as const, ["metadata", objectMeta] as const];
  const all = embeddedResource === true ? [...own, ...members] : own;
  return {
    ...schema,
    ...(all.length > 0 && { properties: new Map(all) }),
    ...(items && { items: below(items) }),
    ...(values !== undefined && values !== true && { values: below(values) }),
  };
}

const MEMBERS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** The decoded metadata of a body, and its strict decoding errors. */
export interface DecodedMetadata extends Pick<Decoded, "strict" | "error"> {
  readonly metadata: JsonObject | undefined;
}

/**
 * Decodes the metadata of a body. Compat: it is decoded into the Go type ObjectMeta for every kind
 * (objectmeta.GetObjectMetaWithOptions); unknown fields are dropped.
 */
export function decodeMetadata(object: JsonObject, schema: Schema, path = "metadata"): DecodedMetadata {
  return readMetadata(object, schema.properties?.get("metadata") ?? {}, path);
}

function readMetadata({ metadata }: JsonObject, objectMeta: Schema, path = "metadata"): DecodedMetadata {
  if (metadata === undefined) return { metadata: undefined, strict: [] };
  const { value, strict, error } = decodeBySchema(metadata, objectMeta);
  return {
    metadata: isObject(value) ? value : {},
    strict: strict.map((text) => text.replace('field "', `field "${path}.`)),
    error,
  };
}
