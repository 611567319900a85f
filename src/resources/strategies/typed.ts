import { decodeBySchema } from "../../data/schema/decode.ts";
import type { Strategy } from "./strategy.ts";

/** Built-in kinds: bodies are decoded like Go types, which drop, sort and complete fields by their struct tags. */
export const typed: Strategy = {
  isUnstructured: false,
  servesStoredBytes: true,
  decode: decodeBySchema,
  setDefaults({ definition, apiVersion }, object, context) {
    definition.hooks?.setDefaults?.(object, apiVersion, context);
  },
  coerce() {},
  applySchema: (schema) => schema,
};
