import type { Schema } from "../../data/schema/schema.ts";

/** A delimiter, a single-quoted string, or the text in between. */
const TOKEN = /[.[\]]|'(?:\\'|[^'])*'|[^.[\]]+/gy;

/** The fieldPath of a rule, as used in errors. Empty if it does not exist in the schema. Upstream: `ValidFieldPath`. */
export function fieldPathOf(fieldPath: string | undefined, root: Schema): string {
  let path = "";
  let schema: Schema | true | undefined = root;
  for (const token of fieldPath?.match(TOKEN) ?? []) {
    if (token === "." || token === "[" || token === "]") continue;
    if (typeof schema !== "object") return "";
    const name = token.startsWith("'") ? token.slice(1, -1).replace(/\\(['\\])/g, "$1") : token;
    const property: Schema | undefined = schema.properties?.get(name);
    if (schema.properties !== undefined && property === undefined) return "";
    if (property !== undefined) path += path === "" ? name : `.${name}`;
    else path += `[${name}]`;
    schema = property ?? schema.values;
  }
  return path;
}
