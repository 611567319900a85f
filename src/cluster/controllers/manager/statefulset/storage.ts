import type { KubeObject } from "../../../../base/api/object.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { Volume } from "../../../../kinds/types/volume.ts";
import type { Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";
import { ordinalOf } from "./identity.ts";

function claimName({ metadata: set }: StatefulSet, { metadata: template }: KubeObject, ordinal: number): string {
  return `${template.name}-${set.name}-${ordinal}`;
}

/** The names of the PersistentVolumeClaims of a Pod. */
export function claimNames(set: StatefulSet, pod: Pod): string[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => claimName(set, template, ordinalOf(pod)));
}

/** The PersistentVolumeClaims of a Pod, as they are created. */
export function claimsOf(set: StatefulSet, pod: Pod): KubeObject[] {
  const { spec, metadata } = set;
  return (spec.volumeClaimTemplates ?? []).map((template) => {
    const claim = cloneJson(template);
    const name = claimName(set, template, ordinalOf(pod));
    const labels = { ...claim.metadata.labels, ...spec.selector?.matchLabels };
    return { ...claim, metadata: { ...claim.metadata, name, namespace: metadata.namespace ?? "", labels } };
  });
}

/** The volumes of a Pod that its claims stand for. */
function volumesOf(set: StatefulSet, ordinal: number): Volume[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata.name ?? "",
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
}

/** Whether the volumes of a Pod use its claims. */
export function hasStorage(set: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(pod);
  if (ordinal < 0) return false;
  const claimOf = new Map(pod.spec?.volumes?.map(({ name, persistentVolumeClaim: claim }) => [name, claim?.claimName]));
  return volumesOf(set, ordinal).every(
    ({ name, persistentVolumeClaim }) => claimOf.get(name) === persistentVolumeClaim?.claimName,
  );
}

/** The Pod with volumes for its claims, instead of others of the same names. */
export function withStorage(set: StatefulSet, pod: Pod): Pod {
  const own = volumesOf(set, ordinalOf(pod));
  const names = new Set(own.map(({ name }) => name));
  const volumes = [...own, ...(pod.spec?.volumes ?? []).filter(({ name }) => !names.has(name))];
  return volumes.length === 0 ? pod : { ...pod, spec: { ...pod.spec, volumes } };
}
