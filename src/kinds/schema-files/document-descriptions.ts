import { readFile, stat } from "node:fs/promises";
import { isObject } from "../../base/api/object.ts";
import { parseJsonText } from "../../base/util/parse-json.ts";
import { findDescription } from "./descriptions.ts";

/** Finds the description of a type, or of one of its fields. */
export type FindDescription = (component: string, field?: string) => string | undefined;

/** The OpenAPI v2 document of a cluster with many custom resources has about 20 MB. */
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * The descriptions of an OpenAPI v2 or v3 document, by the names of its definitions. Throws an Error if it is not one.
 */
export function documentDescriptions(text: string): FindDescription {
  const root = parseJsonText(text);
  const schemas = isObject(root)
    ? (root.definitions ?? (isObject(root.components) && root.components.schemas))
    : undefined;
  if (!isObject(schemas)) throw new Error("has neither definitions nor components.schemas: it is no OpenAPI document");
  const texts = new Map<string, string>();
  const keep = (name: string, described: unknown) => {
    const words = isObject(described) ? described.description : undefined;
    if (typeof words === "string" && words !== "") texts.set(name, words);
  };
  for (const [component, schema] of Object.entries(schemas)) {
    keep(component, schema);
    const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
    for (const [field, described] of Object.entries(properties)) keep(`${component} ${field}`, described);
  }
  return (component, field) => texts.get(field === undefined ? component : `${component} ${field}`);
}

/**
 * Descriptions of the document of `--openapi-descriptions`, and our own for what it lacks. Throws an Error that names
 * the file.
 */
export async function openDescriptions(file: string | undefined): Promise<FindDescription> {
  if (file === undefined) return findDescription;
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new Error(`has more than ${MAX_BYTES} bytes`);
    const given = documentDescriptions(await readFile(file, "utf8"));
    return (component, field) => given(component, field) ?? findDescription(component, field);
  } catch (error) {
    throw new Error(`--openapi-descriptions ${file}: ${(error as Error).message}`);
  }
}
