import { printFieldError } from "../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { currentMeter } from "../../base/util/meter.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { applyDefaults } from "../../data/schema/structural/default.ts";
import { coerceEmbedded } from "../../data/schema/structural/embedded.ts";
import { pruneBySchema, pruneNulls } from "../../data/schema/structural/prune.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";
import { decodeMetadata } from "./object-members.ts";
import type { Strategy } from "./strategy.ts";
import { validateCustom } from "./validate-custom.ts";

/**
 * Custom kinds with a structural schema (completed by `withObjectMembers`): any JSON, without unknown fields and with
 * the defaults of the schema. Compat: pruning and defaulting apply to bodies and to values read from etcd
 * (schemaCoercingDecoder, unstructuredDefaulter). Values of wrong types are kept until validation.
 */
export const structural: Strategy = {
  isUnstructured: true,
  servesStoredBytes: false,
  decode(value, schema, { duplicates = [], form } = {}) {
    const { metadata, strict, error } = decodeMetadata(value, schema);
    // Compat: the result of `FieldManager.Apply` is not decoded again, so its nulls are validated.
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
    applyDefaults(object, declaredIn(version.schema()), currentMeter());
  },
  coerce(object, schema, origin) {
    prune(object, schema);
    coerce(object, schema, true);
    if (origin === "converted") return;
    applyDefaults(object, declaredIn(schema), currentMeter());
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
