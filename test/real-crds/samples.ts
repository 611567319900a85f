import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { ValueMaker } from "../fuzz/crd-values.ts";
import { applyEdits, type Edit } from "../fuzz/edits.ts";
import type { Random } from "../fuzz/random.ts";

/** One version of a kind that is installed. */
export interface InstalledKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly hasStatus: boolean;
  readonly schema: JsonObject;
}

/** The kinds that a definition installs, one for each version that is served. */
export function kindsOf(definition: JsonObject): InstalledKind[] {
  const { group, names, scope, versions } = definition.spec as JsonObject & {
    names: JsonObject;
    versions: JsonObject[];
  };
  return versions
    .filter(({ served }) => served === true)
    .map(({ name, schema, subresources }) => ({
      group: String(group),
      version: String(name),
      plural: String(names.plural),
      kind: String(names.kind),
      isNamespaced: scope === "Namespaced",
      hasStatus: isObject(subresources) && subresources.status !== undefined,
      schema: (schema as { openAPIV3Schema: JsonObject }).openAPIV3Schema,
    }));
}

/** What a server fills in, or what says where an object is. */
const OWN_METADATA = ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"];
const PLACE = ["namespace", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"];

/** An object as somebody would send it anew. */
export function cleanSample(object: JsonObject): JsonObject {
  const metadata = isObject(object.metadata) ? { ...object.metadata } : {};
  for (const member of [...OWN_METADATA, ...PLACE]) delete metadata[member];
  return { ...object, metadata };
}

/** An object with an edit at a random place that it has: what stands there goes, or becomes something else. */
export function randomChange(
  random: Random,
  object: JsonObject,
): { readonly edit: Edit; readonly changed: JsonObject } {
  const { metadata: _, apiVersion: _version, kind: _kind, ...rest } = object;
  const path = randomPath(random, rest);
  const edit = random.chance(0.3) ? { path } : { path, value: new ValueMaker(random, 0.5).any(1) };
  return { edit, changed: applyEdits(object, [edit]) };
}

function randomPath(random: Random, value: Json | undefined): (string | number)[] {
  if (!isObject(value) && !Array.isArray(value)) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  if (keys.length === 0) return [];
  const key = random.pick<string | number>(keys);
  const member = Array.isArray(value) ? value[Number(key)] : value[key];
  return random.chance(0.15) ? [key] : [key, ...randomPath(random, member)];
}
