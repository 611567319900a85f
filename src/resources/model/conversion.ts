import { apiVersionOf, type KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { ResourceDefinition, ServedVersion } from "./definition.ts";

/** Maximum number of objects per call of a batch converter. */
const OBJECTS_AT_ONCE = 500;

/** The apiVersion of stored objects of a kind. */
export function storedApiVersion(definition: ResourceDefinition): string {
  const { storage } = definition;
  if (!storage) return apiVersionOf(definition.group, definition.versions[0]?.name ?? "");
  return apiVersionOf(storage.group ?? definition.group, storage.version);
}

/**
 * Converts an object to another version of its kind. Returns a new object that shares members with the old one.
 * `stored`: the object that a write replaces; fields that the other version does not have are taken from it. Throws for
 * kinds with a batch converter.
 */
export function convertObject(
  definition: ResourceDefinition,
  object: KubeObject,
  toApiVersion: string,
  stored?: KubeObject,
): KubeObject {
  if (object.apiVersion === toApiVersion) return object;
  const { convert, convertBatch } = definition.hooks ?? {};
  if (convertBatch) throw new Error(`objects of ${definition.plural} cannot be converted synchronously`);
  if (convert) return convert(object, toApiVersion, stored);
  const next = { ...object, apiVersion: toApiVersion };
  // Compat: with `spec.conversion.strategy: None` fields are pruned by the schema of the target version.
  return strategyOf(definition).servesStoredBytes ? next : coerceConverted(definition, cloneJson(next));
}

/**
 * Converts an object for managed fields. Compat: the field manager of a custom resource converts without
 * `schemaCoercingConverter`, so fields that the target version does not define are kept and do not fit its type.
 */
export function convertTracked(definition: ResourceDefinition, object: KubeObject, toApiVersion: string): KubeObject {
  const isCoerced = definition.reading === "structural" && !definition.hooks?.convertBatch;
  return isCoerced ? { ...object, apiVersion: toApiVersion } : convertObject(definition, object, toApiVersion);
}

/** Converts an object of any kind. Asynchronous only if the kind has a batch converter and the versions differ. */
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

/** Converts objects with the batch converter of their kind, in order and in batches. Takes ownership of the objects. */
export async function convertObjects(
  definition: ResourceDefinition,
  objects: readonly KubeObject[],
  toApiVersion: string,
): Promise<KubeObject[]> {
  const converted = await convertUncoerced(definition, objects, toApiVersion);
  for (const object of converted) coerceConverted(definition, object);
  return converted;
}

/** Converts objects without coercing the result, for managed fields. */
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
      throw new Error(`${definition.plural}: conversion of ${given.length} objects returned ${converted.length}`);
    }
    for (const [index, object] of converted.entries()) {
      if (object.apiVersion !== toApiVersion) {
        throw new Error(`${definition.plural}: conversion returned ${object.apiVersion} instead of ${toApiVersion}`);
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
 * The stored object that a write starts from. Compat: a write stores an object in the current storage version,
 * regardless of the version it was stored in before. This is how `status.storedVersions` gets shorter.
 */
export function toCurrent(definition: ResourceDefinition, object: KubeObject): Eventually<KubeObject> {
  const stored = storedApiVersion(definition);
  if (strategyOf(definition).isUnstructured) {
    return convertEventually(definition, coerceStored(definition, object), stored);
  }
  return object.apiVersion === stored ? object : convertObject(definition, object, stored);
}

/** Applies the current schema to a stored object, unless objects of the kind are served as stored. Changes `object`. */
export function coerceStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const strategy = strategyOf(definition);
  if (strategy.servesStoredBytes) return object;
  const schema = schemaIn(definition, object.apiVersion);
  if (schema) strategy.coerce(object, schema, "stored");
  return object;
}

/** Applies the current schema to a converted object. Compat: `schemaCoercingConverter` prunes, but sets no defaults. */
function coerceConverted(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const schema = schemaIn(definition, object.apiVersion);
  if (schema) strategyOf(definition).coerce(object, schema, "converted");
  return object;
}

function schemaIn(definition: ResourceDefinition, apiVersion: string): Schema | undefined {
  return versionIn(definition, apiVersion)?.schema();
}

/** A version of a kind, served or not. Undefined if the kind has no such version. */
export function versionIn(
  { group, versions, unservedVersions = [] }: ResourceDefinition,
  apiVersion: string,
): ServedVersion | undefined {
  const isMeant = ({ name }: ServedVersion) => apiVersion === apiVersionOf(group, name);
  return versions.find(isMeant) ?? unservedVersions.find(isMeant);
}
