import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { asSchema, namedSchemas } from "./schema-walk.ts";

/** The field that a path leads to in a schema, or an error. */
export type FoundField =
  | { readonly steps: readonly string[]; readonly schema: JsonSchemaProps | undefined }
  | { readonly error: string };

/** A token: one of the three delimiters, a string in single quotes, or the text between them. */
const TOKEN = /[.[\]]|'(?:\\'|[^'])*'|[^.[\]]+/gy;

/**
 * Follows a path of fields and map keys in a schema. Upstream: `ValidFieldPath`. `hasBrackets`: whether `['…']` is
 * allowed.
 */
export function findField(path: string, root: JsonSchemaProps, hasBrackets: boolean): FoundField {
  const tokens = path.match(TOKEN) ?? [];
  const steps: string[] = [];
  let schema: JsonSchemaProps | undefined = root;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? "";
    if (token !== "." && token !== "[") return { error: `expected [ or . but got: ${token}` };
    if (token === "[" && !hasBrackets) return { error: "array notation is not allowed" };
    at += 1;
    const next = tokens[at];
    if (next === undefined) return { error: "unexpected end of JSON path" };
    let name = next;
    if (token === "[") {
      if (next.length < 2 || !next.startsWith("'") || !next.endsWith("'")) {
        return { error: `expected single quoted string but got ${next}` };
      }
      name = next.slice(1, -1).replace(/\\(['\\])/g, "$1");
    }
    const properties: Map<string, JsonSchemaProps> = new Map(namedSchemas(schema?.properties));
    if (properties.size > 0) {
      schema = properties.get(name);
      if (!schema) return { error: "does not refer to a valid field" };
      steps.push(steps.length === 0 ? name : `.${name}`);
    } else if (schema?.additionalProperties !== undefined) {
      schema = asSchema(schema.additionalProperties);
      steps.push(`[${name}]`);
    } else return { error: "does not refer to a valid field" };
    if (token !== "[") continue;
    at += 1;
    const end = tokens[at];
    if (end === undefined) return { error: "unexpected end of JSON path" };
    if (end !== "]") return { error: `expected ] but got ${end}` };
  }
  return { steps, schema };
}
