import { printFieldError } from "../../api/field-error.ts";
import type { JsonObject, KubeObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import type { Schema } from "../../schema/schema.ts";
import { applyDefaults } from "../../schema/structural/default.ts";
import { coerceEmbedded } from "../../schema/structural/embedded.ts";
import { pruneBySchema, pruneNulls } from "../../schema/structural/prune.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";
import { decodeMetadata } from "./object-members.ts";
import type { Strategy } from "./strategy.ts";
import { validateCustom } from "./validate-custom.ts";

/**
 * Custom kinds with a structural schema (`withObjectMembers` completes it): any JSON, without what the schema does not
 * know, with the defaults that it publishes. Compat: both happen to bodies and to what is read from etcd
 * (schemaCoercingDecoder, unstructuredDefaulter). Values of wrong types are kept until they are validated.
 */
export const structural: Strategy = {
  isUnstructured: true,
  servesStoredBytes: false,
  decode(value, schema, { duplicates = [], form } = {}) {
    const { metadata, strict, error } = decodeMetadata(value, schema);
    // Compat: what `FieldManager.Apply` makes is not decoded again: its nulls are validated.
    if (form === "merged")
      return { value: { ...value, ...(metadata && { metadata }) }, strict: [], empties: [], error };
    const object = cloneJson(value);
    const unknown = prune(object as KubeObject, schema);
    const embedded = coerce(object as KubeObject, schema, false);
    if (metadata !== undefined) object.metadata = metadata;
    const texts = [...duplicates, ...strict, ...unknown, ...embedded.strict];
    return {
      value: object,
      strict: texts,
      empties: [],
      error: error ?? (embedded.error && printFieldError(embedded.error)),
    };
  },
  setDefaults({ version }, object) {
    applyDefaults(object, declaredIn(version.schema()));
  },
  coerce(object, schema, origin) {
    prune(object, schema);
    coerce(object, schema, true);
    if (origin === "converted") return;
    applyDefaults(object, declaredIn(schema));
    // Compat: very old objects have no generation (unstructuredSchemaCoercer's repairGeneration).
    object.metadata.generation ||= 1;
  },
  prepare: (version) => version.schema().declared?.rules?.prepare(),
  validate: validateCustom,
  warn: finalizerWarnings,
  applySchema: (schema) => schema,
};

const declaredIn = (schema: Schema): Schema => schema.declared?.schema ?? schema;

function prune(object: KubeObject, schema: Schema): string[] {
  const declared = declaredIn(schema);
  const unknown = pruneBySchema(object, declared);
  pruneNulls(object, declared);
  return unknown;
}

const NOTHING = { strict: [], error: undefined };

function coerce(object: KubeObject, schema: Schema, dropsInvalid: boolean): ReturnType<typeof coerceEmbedded> {
  if (schema.declared?.traits.hasEmbedded === false) return NOTHING;
  const readMetadata = (embedded: JsonObject, path: string) => decodeMetadata(embedded, schema, path);
  return coerceEmbedded(object, declaredIn(schema), { dropsInvalid, readMetadata });
}
