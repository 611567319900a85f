import { randomUUID } from "node:crypto";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../api/object.ts";
import { parseJson } from "../../encoding/json/json.ts";
import { printedFields } from "../../patch/apply/created-fields.ts";
import type { FieldSet } from "../../patch/apply/field-set.ts";
import type { Entry } from "../../storage/store.ts";

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
  const fields = knownFields(storedMetadata.managedFields);
  if (fields !== undefined) storedMetadata.managedFields = [{ ...fields.manager, fieldsV1: PLACE_OF_FIELDS }];
  // Without a prototype V8 looks out for cycles from the start; else it begins anew once it is ten levels deep.
  const json = JSON.stringify({ __proto__: null, kind, apiVersion, metadata: storedMetadata, ...rest });
  return Buffer.from(fields === undefined ? json : json.replace(`"${PLACE_OF_FIELDS}"`, () => fields.json));
}

/** Nobody can guess it, so nothing else in an object is taken for it. */
const PLACE_OF_FIELDS = randomUUID();

/** The only manager of an object, with the JSON of what it owns, if that is known. */
function knownFields(managers: Json[] | undefined): { manager: JsonObject; json: string } | undefined {
  const manager = managers?.length === 1 ? managers[0] : undefined;
  if (!isObject(manager) || !isObject(manager.fieldsV1)) return undefined;
  const json = printedFields(manager.fieldsV1 as FieldSet);
  return json === undefined ? undefined : { manager, json };
}
