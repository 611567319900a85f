import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { claimNameOf, isForPod } from "../../controllers/shared/pod-claims.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import { BIND_COMPLETED, hasAnnotation } from "../../controllers/shared/volume-facts.ts";
import { claimNotFound, notForPod } from "./volume-messages.ts";

/** The PersistentVolumeClaims of a Pod. */
export interface PodVolumeClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Not bound: the scheduler chooses a volume, or the node for which one is provisioned. */
  readonly delayed: readonly PersistentVolumeClaim[];
}

/** Where claims and classes are found. */
export interface ClaimSource {
  readonly claim: (key: string) => PersistentVolumeClaim | undefined;
  readonly storageClass: (name: string) => StorageClass | undefined;
}

/** Whether both sides of a binding are written. Upstream: isPVCFullyBound */
export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  return (claim.spec.volumeName ?? "") !== "" && hasAnnotation(claim, BIND_COMPLETED);
}

/** Reads the claims of a Pod. A string is the reason why the Pod cannot run yet. Undefined: it has no claims. */
export function readPodClaims(pod: Pod, source: ClaimSource): PodVolumeClaims | string | undefined {
  const claims: PersistentVolumeClaim[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    const { ephemeral } = volume;
    const name = claimNameOf(pod, volume);
    if (name === undefined) continue;
    const claim = source.claim(`${pod.metadata.namespace}/${name}`);
    if (claim === undefined) return ephemeral ? notCreated(name) : claimNotFound(name);
    const problem = problemOf(claim);
    if (problem !== undefined) return problem;
    if (ephemeral && !isForPod(pod, claim)) return notForPod(pod, claim);
    claims.push(claim);
  }
  if (claims.length === 0) return undefined;
  const unbound = claims.filter((claim) => !isFullyBound(claim));
  const isDelayed = (claim: PersistentVolumeClaim) =>
    (claim.spec.volumeName ?? "") === "" && waitsForPod(claim, source);
  if (!unbound.every(isDelayed)) return "pod has unbound immediate PersistentVolumeClaims";
  return { bound: claims.filter(isFullyBound), delayed: unbound };
}

const notCreated = (name: string) =>
  `waiting for ephemeral volume controller to create the persistentvolumeclaim ${JSON.stringify(name)}`;

function problemOf({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  const name = JSON.stringify(metadata.name);
  if (status?.phase === "Lost") {
    const volume = JSON.stringify(spec.volumeName ?? "");
    return `persistentvolumeclaim ${name} bound to non-existent persistentvolume ${volume}`;
  }
  return metadata.deletionTimestamp === undefined ? undefined : `persistentvolumeclaim ${name} is being deleted`;
}

/** Upstream: IsDelayBindingMode */
function waitsForPod(claim: PersistentVolumeClaim, { storageClass }: ClaimSource): boolean {
  return storageClass(storageClassOf(claim))?.volumeBindingMode === "WaitForFirstConsumer";
}
