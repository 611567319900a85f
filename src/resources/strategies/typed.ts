import { decodeBySchema } from "../../schema/decode.ts";
import type { Strategy } from "./strategy.ts";

/** Built-in kinds: bodies go through a Go type, which drops, sorts and completes fields by its struct tags. */
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
