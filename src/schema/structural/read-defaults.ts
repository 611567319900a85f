import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import { getMember } from "../../lib/members.ts";
import type { Schema } from "../schema.ts";
import { coerceEmbedded, type EmbeddedReading } from "./embedded.ts";

/** What is left of a value that stands at some place in metadata. Undefined: nothing. */
type Left = (value: Json) => Json | undefined;

/**
 * A schema whose defaults leave out what ObjectMeta does not know, where they stand in, or have, the metadata of an
 * embedded object: nobody is told of such fields, and no object ever has them.
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

/** A default, with the metadata of embedded objects in it as ObjectMeta. */
function coerced(value: Json, schema: Schema, reading: EmbeddedReading): Json | undefined {
  const holder: JsonObject = { value: cloneJson(value) };
  coerceEmbedded(holder, { type: "object", properties: new Map([["value", schema]]) }, reading);
  return holder.value;
}
