import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { withoutManagedFields } from "./scope.ts";
import { sameValue } from "./typed.ts";

/**
 * The object to store: `next`, or `next` with the stored times if only times of managed fields differ, so that such a
 * write changes nothing. Both must be in the same version and complete (defaulted, with all metadata).
 */
export function keepTimes(stored: KubeObject, next: KubeObject): KubeObject {
  const before = stored.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (before === undefined || after === undefined || before === after || before.length !== after.length) return next;
  if (!after.every((entry, i) => sameValue(withoutTime(entry), withoutTime(before[i] ?? null)))) return next;
  if (!sameValue(withoutManagedFields(stored), withoutManagedFields(next))) return next;
  return { ...next, metadata: { ...next.metadata, managedFields: before } };
}

function withoutTime(entry: Json): Json {
  if (!isObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
