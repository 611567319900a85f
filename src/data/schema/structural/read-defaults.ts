import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Schema } from "../schema.ts";
import { coerceEmbedded, type EmbeddedReading } from "./embedded.ts";

/** Returns the part of a metadata value that ObjectMeta accepts. Undefined: none. */
type Left = (value: Json) => Json | undefined;

/**
 * Removes fields that ObjectMeta does not have from the defaults of a schema, if these are in the metadata of an
 * embedded object or contain it. Such fields are not reported, and no object ever has them.
 */
export function withReadDefaults(schema: Schema, readMetadata: EmbeddedReading["readMetadata"]): Schema {
  const reading: EmbeddedReading = { readMetadata, dropsInvalid: true };
  const inMetadata: Left = (metadata) => readMetadata({ metadata }, "").metadata as Json | undefined;

  const read = (node: Schema, around: Left | undefined): Schema => {
    const isEmbedded = node.embeddedResource === true;
    const left = isEmbedded ? undefined : around;
    const below = (name: string): Left | undefined => {
      if (isEmbedded && name === "metadata") return inMetadata;
      return left && ((value) => memberOf(left({ [name]: value }), name));
    };
    const changed: { -readonly [Member in keyof Schema]?: Schema[Member] } = {};
    const { items, values, properties = [] } = node;
    const item = items && read(items, left && ((value) => firstOf(left([value]))));
    if (item !== items) changed.items = item;
    const member = values === undefined || values === true ? values : read(values, below("*"));
    if (member !== values) changed.values = member;
    const fields = [...properties].map(([name, field]) => [name, field, read(field, below(name))] as const);
    if (fields.some(([, before, after]) => before !== after)) {
      changed.properties = new Map(fields.map(([name, , after]) => [name, after]));
    }
    if (node.default !== undefined && (left || isObject(node.default) || Array.isArray(node.default))) {
      changed.default = left ? left(cloneJson(node.default)) : coerced(node.default, node, reading);
    }
    return Object.keys(changed).length === 0 ? node : { ...node, ...changed };
  };
  return read(schema, undefined);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? getMember(value, name) : undefined;
}

const firstOf = (value: Json | undefined): Json | undefined => (Array.isArray(value) ? value[0] : undefined);

/** A default with the metadata of its embedded objects converted to ObjectMeta. */
function coerced(value: Json, schema: Schema, reading: EmbeddedReading): Json | undefined {
  const holder: JsonObject = { value: cloneJson(value) };
  coerceEmbedded(holder, { type: "object", properties: new Map([["value", schema]]) }, reading);
  return holder.value;
}
