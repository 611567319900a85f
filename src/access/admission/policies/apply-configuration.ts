import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { merge } from "../../../data/patch/apply/merge.ts";
import { describeElement, fieldElement } from "../../../data/patch/apply/path-element.ts";
import type { Shape } from "../../../data/patch/apply/shape.ts";
import { deduce, memberShape, TypedError } from "../../../data/patch/apply/typed.ts";
import { requireShape } from "../../../data/patch/apply/validate.ts";

/** A mutation cannot be applied. */
export class MutationError extends Error {}

/**
 * Merges an apply configuration into an object like server-side apply, but without field owners. Throws MutationError.
 * Upstream: `ApplyStructuredMergeDiff`.
 */
export function mergeConfiguration(shape: Shape, object: KubeObject, configuration: JsonObject): KubeObject {
  const applied = { ...configuration, kind: object.kind, apiVersion: object.apiVersion };
  within("failed to convert patch object to typed object: ", () => requireShape(shape, applied));
  const atomics = findAtomics(shape, applied, "");
  if (atomics.length > 0) {
    const text = `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${text}`);
  }
  within("failed to convert original object to typed object: ", () => requireShape(shape, object, true));
  return within("failed to merge patch: ", () => merge(shape, object, applied)) as KubeObject;
}

function within<T>(failure: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    throw new MutationError(`error applying patch: ${failure}${error.message}`);
  }
}

/** Paths of atomic lists, maps and structs. Setting one would remove all of its other contents. */
function findAtomics(shape: Shape, value: Json, path: string): string[] {
  const { map, list } = deduce(shape, value);
  if (map !== undefined && isObject(value)) {
    const found = map.isAtomic ? [path] : [];
    for (const [name, member] of Object.entries(value)) {
      // Compat: `FindField` does not find members of maps.
      const below = map.fields().has(name) ? memberShape(map, name) : undefined;
      if (below && member !== undefined) {
        for (const one of findAtomics(below, member, path + describeElement(fieldElement(name)))) found.push(one);
      }
    }
    return found;
  }
  if (list === undefined || !Array.isArray(value)) return [];
  const inner = value.flatMap((item, index) => findAtomics(list.items(), item, `${path}[${index}]`));
  return list.isAtomic ? [path, ...inner] : inner;
}
