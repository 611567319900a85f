import { union } from "./field-set.ts";
import { identify, type Manager, type Managers } from "./managers.ts";
import { compareText } from "./path-element.ts";

/** Maximum number of managers with operation Update. Upstream: `DefaultMaxUpdateManagers`. */
export const MAX_UPDATERS = 10;

/**
 * Merges the oldest managers with operation Update, per version, into one named "ancient-changes" until at most
 * MAX_UPDATERS are left. The merged manager has the newest time among them and no subresource. Upstream:
 * `capManagersManager`.
 */
export function capManagers(managers: Managers): void {
  const updaters = [...managers].filter(([, manager]) => manager.operation === "Update");
  let count = updaters.length;
  if (count <= MAX_UPDATERS) return;
  updaters.sort(
    (left, right) => compareText(left[1].time ?? "", right[1].time ?? "") || compareText(left[0], right[0]),
  );
  const firstOfVersion = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const { apiVersion } = manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    const bucket: Omit<Manager, "fields" | "time"> = {
      name: "ancient-changes",
      operation: "Update",
      apiVersion,
      subresource: "",
    };
    const bucketId = identify(bucket);
    const old = managers.get(bucketId) ?? managers.get(first);
    if (!managers.has(bucketId)) managers.delete(first);
    managers.delete(id);
    const fields = old === undefined ? manager.fields : union(manager.fields, old.fields);
    managers.set(bucketId, { ...bucket, fields, time: manager.time });
    count--;
  }
}
