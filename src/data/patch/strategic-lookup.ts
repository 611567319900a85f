import { plainError } from "../../base/api/api-error.ts";
import type { Schema } from "../schema/schema.ts";

/** How a field is merged, and the schema of its value. */
export interface MergeFacts {
  readonly schema: Schema;
  readonly strategy: string;
  readonly mergeKey: string;
}

/** The merge facts of a member that is an object on both sides. Throws 500 if the schema has no such member. */
export function lookUpObject(schema: Schema, member: string): MergeFacts {
  const kind = goKindOf(schema);
  if (kind !== "struct") {
    throw plainError(500, `merging an object in json but data type is not struct, instead is: ${kind}`);
  }
  const field = isOpaque(schema) ? undefined : schema.properties?.get(member);
  if (field === undefined) {
    const name = schema.component?.slice(schema.component.lastIndexOf(".") + 1) ?? "";
    const text = `unable to find api field in struct ${name} for the json field ${JSON.stringify(member)}`;
    throw plainError(500, text);
  }
  const strategy = field.patchStrategy?.find((one) => one !== "retainKeys") ?? "";
  return { schema: field, strategy, mergeKey: field.patchMergeKey ?? "" };
}

/** The merge facts of a member that is a list on both sides. The schema is that of its items. */
export function lookUpList(schema: Schema, member: string): MergeFacts {
  const facts = lookUpObject(schema, member);
  const { items, zero } = facts.schema;
  if (items === undefined || isOpaque(facts.schema)) {
    // A pointer is followed without checking its target.
    if (zero === undefined) return facts;
    throw plainError(500, `expected slice or array type, but got: ${goKindOf(schema)}`);
  }
  if (items.type === "array") throw plainError(500, "unexpected slice of slice");
  return { ...facts, schema: items };
}

/** The Go kind of a schema. */
export function goKindOf(schema: Schema): string {
  if (schema.component !== undefined) return "struct";
  if (schema.type === "array") return "slice";
  if (schema.type === "object" || schema.type === undefined) return "map";
  if (schema.type === "boolean") return "bool";
  return schema.type === "string" ? "string" : (schema.format ?? "float64");
}

/** Whether the JSON fields differ from the Go fields. */
function isOpaque(schema: Schema): boolean {
  return schema.wire !== undefined && schema.wire !== "wrapped-list";
}
