import type { Schema } from "../../schema/schema.ts";

/** A delimiter, a text in single quotes, or what stands between. */
const TOKEN = /[.[\]]|'(?:\\'|[^'])*'|[^.[\]]+/gy;

/** Where the fieldPath of a rule leads, as errors name it; nothing if it leads nowhere. Upstream: `ValidFieldPath`. */
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
