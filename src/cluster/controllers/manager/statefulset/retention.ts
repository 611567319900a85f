import type { KubeObject, OwnerReference } from "../../../../base/api/object.ts";
import type { Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { controllerReference } from "../../shared/owners.ts";
import { isInRange } from "./identity.ts";

/** The StatefulSet and the Pod that a PersistentVolumeClaim may belong to. */
export interface ClaimOwners {
  readonly set: StatefulSet;
  readonly pod: Pod;
  readonly setResource: ServedResource;
  readonly podResource: ServedResource;
}

interface Owner {
  readonly resource: ServedResource;
  readonly object: KubeObject;
}

const ownersOf = ({ set, pod, setResource, podResource }: ClaimOwners): readonly [set: Owner, pod: Owner] => [
  { resource: setResource, object: set },
  { resource: podResource, object: pod },
];

const referencesOf = ({ metadata }: KubeObject): readonly OwnerReference[] => metadata.ownerReferences ?? [];

/** Whether a reference names the owner. Its uid may be that of an earlier object of this name. */
function isNamed({ resource, object }: Owner, { apiVersion, kind, name }: OwnerReference): boolean {
  return apiVersion === resource.apiVersion && kind === resource.definition.kind && name === object.metadata.name;
}

const isOwner = ({ object }: Owner, { uid }: OwnerReference): boolean => uid === object.metadata.uid;

const hasOwner = (claim: KubeObject, owner: Owner): boolean =>
  referencesOf(claim).some((reference) => isOwner(owner, reference));

function isStale(claim: KubeObject, owner: Owner): boolean {
  const found = referencesOf(claim).find((reference) => isNamed(owner, reference));
  return found !== undefined && !isOwner(owner, found);
}

/** Whether the claim belongs to an earlier Pod of the same name, and so will be deleted. */
export function isOfEarlierPod(claim: KubeObject, owners: ClaimOwners): boolean {
  return isStale(claim, ownersOf(owners)[1]);
}

/** The owner that deletes the claim with itself, by the retention policy. */
function wantedOwner(owners: ClaimOwners): Owner | undefined {
  const [set, pod] = ownersOf(owners);
  const { whenScaled, whenDeleted } = owners.set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled === "Delete" && !isInRange(owners.set, owners.pod)) return pod;
  return whenDeleted === "Delete" ? set : undefined;
}

/** Whether another controller has the claim, so that the retention policy does not apply. */
export function hasOtherController(claim: KubeObject, owners: ClaimOwners): boolean {
  const { whenScaled, whenDeleted } = owners.set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled !== "Delete" && whenDeleted !== "Delete") return false;
  return referencesOf(claim).some((reference) => {
    const named = ownersOf(owners).find((owner) => isNamed(owner, reference));
    return named === undefined ? reference.controller === true : !isOwner(named, reference);
  });
}

/** Whether the owner references of a claim are as the retention policy wants them, or must not be touched. */
export function isRetained(claim: KubeObject, owners: ClaimOwners): boolean {
  const both = ownersOf(owners);
  if (both.some((owner) => isStale(claim, owner))) return true;
  if (hasOtherController(claim, owners)) return !both.some((owner) => hasOwner(claim, owner));
  const isNoController = (reference: OwnerReference) =>
    reference.controller !== true && both.some((owner) => isOwner(owner, reference));
  if (referencesOf(claim).some(isNoController)) return false;
  const wanted = wantedOwner(owners);
  return both.every((owner) => hasOwner(claim, owner) === (owner.object === wanted?.object));
}

/** The owner references that the retention policy wants. */
export function retainedReferences(claim: KubeObject, owners: ClaimOwners): OwnerReference[] {
  const both = ownersOf(owners);
  const others = referencesOf(claim).filter((reference) => !both.some((owner) => isNamed(owner, reference)));
  const wanted = hasOtherController(claim, owners) ? undefined : wantedOwner(owners);
  if (wanted === undefined || others.some((reference) => isOwner(wanted, reference))) return others;
  return [...others, controllerReference(wanted.resource, wanted.object)];
}
