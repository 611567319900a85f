import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Volume } from "../../../kinds/types/volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { controllerOf } from "./owners.ts";

/** The name of the PersistentVolumeClaim of an ephemeral volume. */
export function ephemeralClaimName({ metadata }: Pod, { name }: Volume): string {
  return `${metadata.name}-${name}`;
}

/** The name of the PersistentVolumeClaim that a volume of a Pod stands for. Undefined if there is none. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  return volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && ephemeralClaimName(pod, volume));
}

/** The `namespace/name` of every PersistentVolumeClaim that volumes of a Pod may use. */
export function claimKeysOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume);
    return name === undefined ? [] : [`${pod.metadata.namespace}/${name}`];
  });
}

/** Whether a claim belongs to an ephemeral volume of this Pod, and not to another Pod that uses the same name. */
export function isForPod(pod: Pod, claim: PersistentVolumeClaim): boolean {
  return claim.metadata.namespace === pod.metadata.namespace && controllerOf(claim)?.uid === pod.metadata.uid;
}

/** Whether a volume of the Pod stands for this claim. `countsEphemeral`: also an ephemeral volume. */
export function usesClaim(pod: Pod, claim: PersistentVolumeClaim, countsEphemeral: boolean): boolean {
  const { name } = claim.metadata;
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === name) return true;
    if (!countsEphemeral || volume.ephemeral === undefined) return false;
    return ephemeralClaimName(pod, volume) === name && isForPod(pod, claim);
  });
}
