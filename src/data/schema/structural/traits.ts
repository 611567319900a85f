import type { Schema, SchemaTraits } from "../schema.ts";

/** The traits of a custom kind's schema, which never contains itself. */
export function traitsOf(schema: Schema): SchemaTraits {
  let hasEmbedded = false;
  let hasKeyedLists = false;
  let hasRules = false;
  const waiting: Schema[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    hasEmbedded ||= node.embeddedResource === true;
    hasKeyedLists ||= node.listType === "set" || node.listType === "map";
    hasRules ||= (node.validations?.length ?? 0) > 0;
    for (const below of [node.items, node.values, ...(node.properties?.values() ?? []), ...(node.allOf ?? [])]) {
      if (below !== undefined && below !== true) waiting.push(below);
    }
  }
  return { hasEmbedded, hasKeyedLists, hasRules };
}
