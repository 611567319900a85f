import { isObject, type KubeObject } from "../../api/object.ts";
import { parseJson } from "../../encoding/json/json.ts";
import type { Entry } from "../../storage/store.ts";
import type { Draft } from "./draft.ts";

/** Parses a stored value. The caller owns the result. */
export function decodeEntry(entry: Entry, revision: number = entry.modRevision): KubeObject {
  const object = parseJson(entry.value) as KubeObject;
  object.metadata.resourceVersion = String(revision);
  return object;
}

/** The bytes to store: kind, apiVersion and metadata first, no resourceVersion inside. */
export function encodeObject(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...storedMetadata } = metadata;
  // Without a prototype V8 looks out for cycles from the start; else it begins anew once it is ten levels deep.
  return Buffer.from(JSON.stringify({ __proto__: null, kind, apiVersion, metadata: storedMetadata, ...rest }));
}

/** The bytes to store of a draft, without printing its creator's fieldsV1 again where their JSON is known. */
export function encodeDraft({ object, creatorFields }: Draft): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, managedFields = [], ...others } = metadata;
  const [only] = managedFields;
  if (creatorFields?.json === undefined || managedFields.length !== 1 || !isObject(only)) return encodeObject(object);
  const { fieldsV1, ...entry } = only;
  // Whoever replaced the entry since it was recorded may own something else.
  if (fieldsV1 !== creatorFields.fields) return encodeObject(object);
  const head = JSON.stringify({ kind, apiVersion, metadata: others });
  const manager = `${JSON.stringify(entry).slice(0, -1)},"fieldsV1":${creatorFields.json}}`;
  const tail = JSON.stringify({ __proto__: null, ...rest });
  // New objects have a uid, and their managers a name, so that a comma is right after both.
  const end = tail === "{}" ? "}" : `,${tail.slice(1)}`;
  return Buffer.from(`${head.slice(0, -2)},"managedFields":[${manager}]}${end}`);
}
