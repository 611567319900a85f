import type { KubeObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import { applyDefaults } from "../../schema/default.ts";
import { pruneBySchema, pruneNulls } from "../../schema/prune.ts";
import type { Schema } from "../../schema/schema.ts";
import { decodeMetadata } from "./object-members.ts";
import type { Strategy } from "./strategy.ts";

/**
 * Custom kinds with a structural schema (`withObjectMembers` completes it): any JSON, without what the schema does not
 * know, with the defaults that it publishes. Compat: both happen to bodies and to what is read from etcd
 * (schemaCoercingDecoder, unstructuredDefaulter). The schema is not checked here: values of wrong types are kept.
 */
export const structural: Strategy = {
  isUnstructured: true,
  servesStoredBytes: false,
  decode(value, schema, { duplicates = [] } = {}) {
    const { metadata, strict, error } = decodeMetadata(value, schema);
    const object = cloneJson(value);
    const unknown = prune(object as KubeObject, schema);
    if (metadata !== undefined) object.metadata = metadata;
    return { value: object, strict: [...duplicates, ...strict, ...unknown], empties: [], error };
  },
  setDefaults({ version }, object) {
    applyDefaults(object, version.schema());
  },
  coerce(object, schema) {
    prune(object, schema);
    applyDefaults(object, schema);
  },
  applySchema: (schema) => schema,
};

function prune(object: KubeObject, schema: Schema): string[] {
  const unknown = pruneBySchema(object, schema);
  pruneNulls(object, schema);
  return unknown;
}
