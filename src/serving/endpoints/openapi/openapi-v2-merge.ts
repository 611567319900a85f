import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { keepPaths, renameReferences, type SwaggerPaths } from "../../../data/schema/swagger-paths.ts";
import { encodeSwagger } from "./gnostic-v2.ts";

/** A member of a section of the document. */
export interface Entry {
  /** The member as JSON, including its name. A slice of the assembled document once that exists. */
  json: Uint8Array;
}

/** Sections that kinds and aggregated API servers extend, with their protobuf message and field number. */
export const SECTIONS = {
  paths: { message: "Paths", field: 8 },
  definitions: { message: "Definitions", field: 9 },
  parameters: { message: "ParameterDefinitions", field: 10 },
} as const;

/** Name of a section. */
export type Section = keyof typeof SECTIONS;

/** All sections in document order. */
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly Section[];

/** All entries of a document by section and name. */
export type Sections = Readonly<Record<Section, Map<string, Entry>>>;

/** Creates a member of a section. */
export function entryOf(name: string, value: Json): Entry {
  return { json: Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`) };
}

/** The value of an entry, without its name. */
function entryValue({ json }: Entry): Json {
  const [value = null] = Object.values(parseJsonText(`{${new TextDecoder().decode(json)}}`) as JsonObject);
  return value;
}

const KINDS = "x-kubernetes-group-version-kind";

/**
 * Merges the document of an aggregated API server. Existing paths are kept. A schema or parameter that differs from an
 * existing one of the same name is renamed. Throws without effect if the document cannot be encoded. Upstream:
 * `MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters` of kube-openapi.
 */
export function mergeSwagger(sections: Sections, remote: SwaggerPaths): void {
  const names = Object.keys(remote.paths);
  const free = new Set(names.filter((path) => !sections.paths.has(path)));
  if (free.size === 0) return;
  const kept = free.size === names.length ? remote : keepPaths(remote, (path) => free.has(path));
  const renames = {
    definitions: renamesOf(kept.definitions, sections.definitions, sameShape),
    parameters: renamesOf(kept.parameters, sections.parameters, isDeepStrictEqual),
  };
  const source = renames.definitions.size + renames.parameters.size === 0 ? kept : renameReferences(kept, renames);
  const added: (readonly [Section, string, Entry])[] = [];
  for (const section of SECTION_NAMES) {
    for (const [name, value] of Object.entries(source[section]) as [string, Json][]) {
      const known = sections[section].get(name);
      const next =
        known === undefined ? value : section === "definitions" ? withKinds(entryValue(known), value) : undefined;
      if (next === undefined) continue;
      // Throws if the value has no protobuf encoding.
      encodeSwagger(SECTIONS[section].message, { [name]: next });
      added.push([section, name, entryOf(name, next)]);
    }
  }
  for (const [section, name, entry] of added) sections[section].set(name, entry);
}

/** New names for members that differ from a known member of the same name. */
function renamesOf(
  members: JsonObject,
  known: ReadonlyMap<string, Entry>,
  isSame: (known: Json, one: Json) => boolean,
): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  const taken = new Set<string>();
  for (const [name, value] of Object.entries(members) as [string, Json][]) {
    const isTaken = (wanted: string): boolean => {
      const found = known.get(wanted);
      if (found !== undefined) return !isSame(entryValue(found), value);
      // A new name must be unused in both documents.
      return wanted !== name && (taken.has(wanted) || Object.hasOwn(members, wanted));
    };
    let wanted = name;
    for (let number = 2; isTaken(wanted); number++) wanted = `${name}_v${number}`;
    if (wanted === name) continue;
    renames.set(name, wanted);
    taken.add(wanted);
  }
  return renames;
}

/** Whether two schemas are equal apart from their kinds. */
function sameShape(one: Json, other: Json): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  const { [KINDS]: _one, ...a } = one;
  const { [KINDS]: _other, ...b } = other;
  return isDeepStrictEqual(a, b);
}

const keyOf = (kind: Json): string =>
  isObject(kind) ? `${kind.group}/${kind.version}.${kind.kind}` : JSON.stringify(kind);

/** Merges the kinds of two equal schemas. Undefined if there is nothing to add. Upstream: `mergedGVKs`. */
function withKinds(known: Json, other: Json): Json | undefined {
  if (!isObject(known) || !isObject(other)) return undefined;
  const [ours, theirs] = [known[KINDS], other[KINDS]];
  if (!Array.isArray(theirs)) return undefined;
  if (!Array.isArray(ours)) return { ...known, [KINDS]: theirs };
  const seen = new Set(ours.map(keyOf));
  const more = theirs.filter((kind) => !seen.has(keyOf(kind)));
  if (more.length === 0) return undefined;
  const all = [...ours, ...more].map((kind) => [keyOf(kind), kind] as const);
  return { ...known, [KINDS]: all.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind) };
}
