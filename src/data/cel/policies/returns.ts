import { boolType, listType, nullType, stringType, type Type } from "../values/types.ts";
import { jsonPatchType, objectType } from "./object-types.ts";

/** The allowed result types of expressions. Upstream: `ReturnTypes` of an `ExpressionAccessor`. */
export const RETURNS = {
  condition: [boolType],
  message: [stringType],
  auditAnnotation: [stringType, nullType],
  applyConfiguration: [objectType],
  jsonPatch: [listType(jsonPatchType)],
} as const satisfies Readonly<Record<string, readonly Type[]>>;
