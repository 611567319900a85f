import type { Schema } from "../../data/schema/schema.ts";
import { decodeMetadata } from "./object-members.ts";
import type { Strategy } from "./strategy.ts";

/** Compat: without a schema, apply deduces types from values (managedfields.NewDeducedTypeConverter). */
const DEDUCED: Schema = { type: "object", preserveUnknownFields: true };

/** Custom kinds without a schema: everything is kept, except that metadata is decoded as ObjectMeta. */
export const open: Strategy = {
  isUnstructured: true,
  servesStoredBytes: true,
  decode(value, schema, { duplicates = [] } = {}) {
    const { metadata, strict, error } = decodeMetadata(value, schema);
    const object = metadata === undefined ? { ...value } : { ...value, metadata };
    return { value: object, strict: [...duplicates, ...strict], empties: [], error };
  },
  setDefaults() {},
  coerce() {},
  applySchema: () => DEDUCED,
};
