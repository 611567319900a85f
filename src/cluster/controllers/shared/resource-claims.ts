import type { KubeObject } from "../../../base/api/object.ts";
import type { ClaimSpec, ClaimStatus, TemplateSpec } from "../../../kinds/built-in/resource/types.ts";
import type { PodResourceClaim } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { controllerOf } from "./owners.ts";
import { hasFinished } from "./pods.ts";

/** Keeps a claim while it is allocated. */
export const CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection";

/** ResourceClaim of resource.k8s.io/v1. */
export interface ResourceClaim extends KubeObject {
  spec?: ClaimSpec;
  status?: ClaimStatus;
}

/** ResourceClaimTemplate of resource.k8s.io/v1. */
export interface ResourceClaimTemplate extends KubeObject {
  spec?: TemplateSpec;
}

/** The claim of an entry of `spec.resourceClaims`. */
export type ClaimName =
  /** It has not been created from its template yet. */
  | { readonly state: "missing" }
  /** It is not needed. */
  | { readonly state: "skipped" }
  | { readonly state: "named"; readonly name: string; readonly isGenerated: boolean };

/** Upstream: Name of k8s.io/dynamic-resource-allocation/resourceclaim */
export function claimNameOf({ status }: Pod, { name, resourceClaimName }: PodResourceClaim): ClaimName {
  if (resourceClaimName !== undefined) return { state: "named", name: resourceClaimName, isGenerated: false };
  const known = status?.resourceClaimStatuses?.find((one) => one.name === name);
  if (known === undefined) return { state: "missing" };
  if (known.resourceClaimName === undefined) return { state: "skipped" };
  return { state: "named", name: known.resourceClaimName, isGenerated: true };
}

/** The claims of a Pod that have names, as `namespace/name`. Those for extended resources come from the scheduler. */
export function claimKeysOf(pod: Pod): string[] {
  const { namespace } = pod.metadata;
  const keys = new Set<string>();
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const claim = claimNameOf(pod, entry);
    if (claim.state === "named") keys.add(`${namespace}/${claim.name}`);
  }
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended !== undefined) keys.add(`${namespace}/${extended}`);
  return [...keys];
}

/** The templates that a Pod refers to, as `namespace/name`. */
export function templateKeysOf({ metadata, spec }: Pod): string[] {
  const names = (spec?.resourceClaims ?? []).flatMap((entry) => entry.resourceClaimTemplateName ?? []);
  return [...new Set(names)].map((name) => `${metadata.namespace}/${name}`);
}

/** Whether a claim was generated for this Pod. */
export function isForPod(claim: ResourceClaim, { metadata }: Pod): boolean {
  return controllerOf(claim)?.uid === metadata.uid;
}

/** Whether a claim is allocated, but not reserved for the Pod, which already has a node. */
export function lacksReservation({ status }: ResourceClaim, { metadata, spec }: Pod): boolean {
  if ((spec?.nodeName ?? "") === "" || status?.allocation === undefined) return false;
  return !isReservedFor({ status }, { metadata });
}

/** Whether a claim is reserved for this Pod. */
export function isReservedFor({ status }: Pick<ResourceClaim, "status">, { metadata }: Pick<Pod, "metadata">): boolean {
  return (status?.reservedFor ?? []).some(({ uid }) => uid === metadata.uid);
}

/** Whether no container of a Pod will run any more. */
export function isDone({ metadata, spec, status }: Pod): boolean {
  const isUnscheduled = (spec?.nodeName ?? "") === "";
  return hasFinished({ status }) || (metadata.deletionTimestamp !== undefined && isUnscheduled);
}
