import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";

/** Some paths of an OpenAPI v2 document, with the definitions and parameters they use. */
export interface SwaggerPaths {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
  readonly parameters: JsonObject;
}

/** Prefix of references to definitions. */
export const DEFINITION_PREFIX = "#/definitions/";
/** Prefix of references to parameters. */
export const PARAMETER_PREFIX = "#/parameters/";

/** The sections of a document. Undefined if it has no paths. Throws if a section is not a map of objects. */
export function swaggerPaths(document: Json): SwaggerPaths | undefined {
  if (!isObject(document)) throw new Error("the document is not an object");
  if (document.paths === undefined || document.paths === null) return undefined;
  const { paths, definitions, parameters } = document;
  return { paths: section(paths), definitions: section(definitions), parameters: section(parameters) };
}

function section(value: Json | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new Error("a section of the document is not an object");
  const entries = Object.entries(value).filter(([name]) => !name.startsWith("x-"));
  if (!entries.every(([, member]) => isObject(member)))
    throw new Error("a section contains a value that is not an object");
  return Object.fromEntries(entries);
}

/**
 * Keeps only some paths. Removes definitions that only removed paths used. Upstream:
 * `FilterSpecByPathsWithoutSideEffects` of kube-openapi.
 */
export function keepPaths(source: SwaggerPaths, isKept: (path: string) => boolean): SwaggerPaths {
  const paths = filtered(source.paths, isKept);
  const before = namedBy(source.paths, source);
  const after = namedBy(paths, source);
  const definitions = filtered(source.definitions, (name) => after.has(name) || !before.has(name));
  return { ...source, paths, definitions };
}

function filtered(members: JsonObject, isKept: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => isKept(name)));
}

/** The names of all definitions that these paths use, directly or indirectly. */
function namedBy(paths: JsonObject, { definitions, parameters }: SwaggerPaths): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  const left: Json[] = [paths];
  const see = (reference: string): void => {
    if (seen.has(reference)) return;
    seen.add(reference);
    const isParameter = reference.startsWith(PARAMETER_PREFIX);
    if (!isParameter && !reference.startsWith(DEFINITION_PREFIX)) return;
    const name = reference.slice((isParameter ? PARAMETER_PREFIX : DEFINITION_PREFIX).length);
    if (!isParameter) names.add(name);
    const found = getMember(isParameter ? parameters : definitions, name);
    if (found !== undefined) left.push(found);
  };
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === "object" && item !== null) left.push(item);
    } else if (isObject(next)) {
      for (const [name, member] of Object.entries(next)) {
        if (name === "$ref" && typeof member === "string") see(member);
        else if (typeof member === "object" && member !== null) left.push(member);
      }
    }
  }
  return names;
}

/** Renames definitions and parameters, and all references to them. */
export function renameReferences(
  { paths, definitions, parameters }: SwaggerPaths,
  renames: { readonly definitions: ReadonlyMap<string, string>; readonly parameters: ReadonlyMap<string, string> },
): SwaggerPaths {
  const references = new Map<string, string>();
  for (const [from, to] of renames.definitions) references.set(DEFINITION_PREFIX + from, DEFINITION_PREFIX + to);
  for (const [from, to] of renames.parameters) references.set(PARAMETER_PREFIX + from, PARAMETER_PREFIX + to);
  const change = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(change);
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => {
      const isReference = name === "$ref" && typeof member === "string";
      return [name, isReference ? (references.get(member) ?? member) : change(member as Json)] as const;
    });
    return Object.fromEntries(members);
  };
  const changed = (members: JsonObject, names?: ReadonlyMap<string, string>): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([name, one]) => [names?.get(name) ?? name, change(one as Json)]));
  return {
    paths: changed(paths),
    definitions: changed(definitions, renames.definitions),
    parameters: changed(parameters, renames.parameters),
  };
}
