import type { Json } from "../../../base/api/object.ts";
import { difference, type FieldSet, fieldSetOf, has, isEmpty } from "./field-set.ts";
import { identify, type Manager, type Managers, parseManagers, printManagers } from "./managers.ts";

/** The path of the replicas of a kind, such as "spec.replicas", by version. Undefined in versions without replicas. */
export type ReplicasPaths = ReadonlyMap<string, string | undefined>;

const SCALE_VERSION = "autoscaling/v1";
const REPLICAS_IN_SCALE = "spec.replicas";

function owns(fields: FieldSet, path: string): boolean {
  return has(fields, ...path.split(".").map((name) => `f:${name}`));
}

/** The managed fields of a Scale: the owners of the object's replicas own those of the Scale. */
export function toScaleFields(entries: readonly Json[] | undefined, paths: ReplicasPaths): Json[] | undefined {
  const out: Managers = new Map();
  for (const [id, manager] of parseManagers(entries, true)) {
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !owns(manager.fields, path)) continue;
    out.set(id, { ...manager, apiVersion: SCALE_VERSION, fields: fieldSetOf(REPLICAS_IN_SCALE) });
  }
  return printManagers(out);
}

/** The arguments of `fromScaleFields`. */
export interface ScaleFields {
  /** Managed fields of the object before the write. */
  readonly object: readonly Json[] | undefined;
  /** Managed fields of the Scale after the write. */
  readonly scale: readonly Json[] | undefined;
  /** The version through which the Scale was written. */
  readonly apiVersion: string;
}

/**
 * The managedFields of the object after a write to its Scale. Upstream: `ScaleHandler.ToParent`. Compat: managers that
 * the Scale adds have no `time`; entries in unknown versions are dropped.
 */
export function fromScaleFields({ object, scale, apiVersion }: ScaleFields, paths: ReplicasPaths): Json[] | undefined {
  const before = parseManagers(object, true);
  const ofScale = parseManagers(scale, true);
  const out: Manager[] = [];
  for (const [id, manager] of before) {
    if (!paths.has(manager.apiVersion)) continue;
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !owns(manager.fields, path)) out.push(manager);
    else if (ofScale.delete(id)) out.push(manager);
    else {
      const fields = difference(manager.fields, fieldSetOf(path));
      if (!isEmpty(fields)) out.push({ ...manager, fields });
    }
  }
  const path = paths.get(apiVersion);
  for (const [id, manager] of ofScale) {
    if (path === undefined || !owns(manager.fields, REPLICAS_IN_SCALE)) continue;
    out.push({ ...manager, apiVersion, time: before.get(id)?.time, fields: fieldSetOf(path) });
  }
  return printManagers(new Map(out.map((manager, i) => [`${identify(manager)}${i}`, manager])));
}
