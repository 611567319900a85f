import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { ResourceDefinition } from "./definition.ts";

/** The apiVersion that objects of a kind carry in the store. */
export function storedApiVersion(definition: ResourceDefinition): string {
  const { storage } = definition;
  if (!storage) return apiVersionOf(definition.group, definition.versions[0]?.name ?? "");
  return apiVersionOf(storage.group ?? definition.group, storage.version);
}

/**
 * The same object in another version of its kind. Returns a new object; members are shared with the old one. `stored` is
 * the object that a write replaces: what the other version cannot say is taken from it.
 */
export function convertObject(
  definition: ResourceDefinition,
  object: KubeObject,
  toApiVersion: string,
  stored?: KubeObject,
): KubeObject {
  if (object.apiVersion === toApiVersion) return object;
  const convert = definition.hooks?.convert;
  if (convert) return convert(object, toApiVersion, stored);
  return { ...object, apiVersion: toApiVersion };
}

/** The object in a version that the kind has, when it was stored in one that is gone. */
export function toKnownVersion(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { group, versions } = definition;
  const stored = storedApiVersion(definition);
  const isKnown =
    object.apiVersion === stored || versions.some(({ name }) => object.apiVersion === apiVersionOf(group, name));
  return isKnown ? object : convertObject(definition, object, stored);
}
