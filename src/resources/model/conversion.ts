import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import type { Eventually } from "../../lib/eventually.ts";
import type { Schema } from "../../schema/schema.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { ResourceDefinition, ServedVersion } from "./definition.ts";

/** At most so many objects are given to a batch converter at once. */
const OBJECTS_AT_ONCE = 500;

/** The apiVersion that objects of a kind carry in the store. */
export function storedApiVersion(definition: ResourceDefinition): string {
  const { storage } = definition;
  if (!storage) return apiVersionOf(definition.group, definition.versions[0]?.name ?? "");
  return apiVersionOf(storage.group ?? definition.group, storage.version);
}

/**
 * The same object in another version of its kind. Returns a new object; members are shared with the old one. `stored` is
 * the object that a write replaces: what the other version cannot say is taken from it. Not for kinds with a batch
 * converter.
 */
export function convertObject(
  definition: ResourceDefinition,
  object: KubeObject,
  toApiVersion: string,
  stored?: KubeObject,
): KubeObject {
  if (object.apiVersion === toApiVersion) return object;
  const { convert, convertBatch } = definition.hooks ?? {};
  if (convertBatch) throw new Error(`objects of ${definition.plural} cannot be converted without waiting`);
  if (convert) return convert(object, toApiVersion, stored);
  const next = { ...object, apiVersion: toApiVersion };
  // Compat: with `spec.conversion.strategy: None` fields are pruned by the schema of the other version.
  return strategyOf(definition).servesStoredBytes ? next : coerceConverted(definition, cloneJson(next));
}

/**
 * The same as managed fields are worked out with it. Compat: the field manager of a custom resource converts without
 * `schemaCoercingConverter`: what the other version does not know stays, and does not fit the type of that version.
 */
export function convertTracked(definition: ResourceDefinition, object: KubeObject, toApiVersion: string): KubeObject {
  const isCoerced = definition.reading === "structural" && !definition.hooks?.convertBatch;
  return isCoerced ? { ...object, apiVersion: toApiVersion } : convertObject(definition, object, toApiVersion);
}

/** The same for every kind: at once, unless the kind has a batch converter and the version is another one. */
export function convertEventually(
  definition: ResourceDefinition,
  object: KubeObject,
  toApiVersion: string,
  stored?: KubeObject,
): Eventually<KubeObject> {
  if (object.apiVersion === toApiVersion || !definition.hooks?.convertBatch) {
    return convertObject(definition, object, toApiVersion, stored);
  }
  return convertObjects(definition, [object], toApiVersion).then(([converted]) => converted as KubeObject);
}

/** Converts objects with the batch converter of their kind, in order, some at a time. Owns what it is given. */
export async function convertObjects(
  definition: ResourceDefinition,
  objects: readonly KubeObject[],
  toApiVersion: string,
): Promise<KubeObject[]> {
  const converted = await convertUncoerced(definition, objects, toApiVersion);
  for (const object of converted) coerceConverted(definition, object);
  return converted;
}

/** The same, as the converter answered, for managed fields. */
export async function convertUncoerced(
  definition: ResourceDefinition,
  objects: readonly KubeObject[],
  toApiVersion: string,
): Promise<KubeObject[]> {
  const out: KubeObject[] = [];
  for (let at = 0; at < objects.length; at += OBJECTS_AT_ONCE) {
    const given = objects.slice(at, at + OBJECTS_AT_ONCE);
    const versions = given.map(({ metadata }) => metadata.resourceVersion);
    const converted = (await definition.hooks?.convertBatch?.(given, toApiVersion)) ?? [];
    if (converted.length !== given.length) {
      throw new Error(`${definition.plural}: ${given.length} objects became ${converted.length} by conversion`);
    }
    for (const [index, object] of converted.entries()) {
      if (object.apiVersion !== toApiVersion) {
        throw new Error(`${definition.plural}: an object became ${object.apiVersion} instead of ${toApiVersion}`);
      }
      out.push(withVersion(object, versions[index]));
    }
  }
  return out;
}

function withVersion(object: KubeObject, resourceVersion: string | undefined): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion } };
}

/**
 * A stored object as a write begins with it. Compat: a write stores a custom resource in the version whose
 * `storage` is true, whatever version it was stored in before; that is how `status.storedVersions` gets shorter.
 */
export function toCurrent(definition: ResourceDefinition, object: KubeObject): Eventually<KubeObject> {
  if (!strategyOf(definition).isUnstructured) return toKnownVersion(definition, object);
  return convertEventually(definition, coerceStored(definition, object), storedApiVersion(definition));
}

/** The object in a version that the kind has, when it was stored in one that is gone. */
function toKnownVersion(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { group, versions } = definition;
  const stored = storedApiVersion(definition);
  const isKnown =
    object.apiVersion === stored || versions.some(({ name }) => object.apiVersion === apiVersionOf(group, name));
  return isKnown ? object : convertObject(definition, object, stored);
}

/**
 * Applies today's schema to an object that was stored, where objects of the kind are not served as they were stored.
 * Changes `object`.
 */
export function coerceStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const strategy = strategyOf(definition);
  if (strategy.servesStoredBytes) return object;
  const schema = schemaIn(definition, object.apiVersion);
  if (schema) strategy.coerce(object, schema, "stored");
  return object;
}

/** The same for one that comes from a converter. Compat: `schemaCoercingConverter` prunes, but knows no defaults. */
function coerceConverted(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const schema = schemaIn(definition, object.apiVersion);
  if (schema) strategyOf(definition).coerce(object, schema, "converted");
  return object;
}

function schemaIn(definition: ResourceDefinition, apiVersion: string): Schema | undefined {
  return versionIn(definition, apiVersion)?.schema();
}

/** What a kind is in a version, served or not; undefined when it has no such version. */
export function versionIn(
  { group, versions, unservedVersions = [] }: ResourceDefinition,
  apiVersion: string,
): ServedVersion | undefined {
  const isMeant = ({ name }: ServedVersion) => apiVersion === apiVersionOf(group, name);
  return versions.find(isMeant) ?? unservedVersions.find(isMeant);
}
