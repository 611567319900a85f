import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { keepPaths, renameReferences, type SwaggerPaths } from "../../schema/swagger-paths.ts";
import { encodeSwagger } from "./gnostic-v2.ts";

/** A member of a section of the document. */
export interface Entry {
  /** The member as JSON has it, name included; a part of the last document once that is put together. */
  json: Uint8Array;
}

/** The sections that kinds and other servers add to, with the messages they are and the fields they stand in. */
export const SECTIONS = {
  paths: { message: "Paths", field: 8 },
  definitions: { message: "Definitions", field: 9 },
  parameters: { message: "ParameterDefinitions", field: 10 },
} as const;

/** One of them. */
export type Section = keyof typeof SECTIONS;

/** All of them, in the order of the document. */
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly Section[];

/** All entries of a document by their names. */
export type Sections = Readonly<Record<Section, Map<string, Entry>>>;

/** A member of a section that is called `name`. */
export function entryOf(name: string, value: Json): Entry {
  return { json: Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`) };
}

/** What an entry says, without its name. */
function entryValue({ json }: Entry): Json {
  const [value = null] = Object.values(JSON.parse(`{${new TextDecoder().decode(json)}}`) as JsonObject);
  return value;
}

const KINDS = "x-kubernetes-group-version-kind";

/**
 * Adds what another server's document says. Paths that are there stay as they are; a shape or parameter that is there
 * and differs gets another name. Nothing is added of a document that has no binary form. Upstream:
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
      // Throws where the value has no form in protobuf, which nobody could be told then.
      encodeSwagger(SECTIONS[section].message, { [name]: next });
      added.push([section, name, entryOf(name, next)]);
    }
  }
  for (const [section, name, entry] of added) sections[section].set(name, entry);
}

/** The names that members get which another server calls as something else is called. */
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
      // A new name must be free in both documents.
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

/** Whether two shapes are the same, whatever kinds they are of. */
function sameShape(one: Json, other: Json): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  const { [KINDS]: _one, ...a } = one;
  const { [KINDS]: _other, ...b } = other;
  return isDeepStrictEqual(a, b);
}

const keyOf = (kind: Json): string =>
  isObject(kind) ? `${kind.group}/${kind.version}.${kind.kind}` : JSON.stringify(kind);

/** A shape that is of the kinds of both; undefined when the other has none to add. Upstream: `mergedGVKs`. */
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
