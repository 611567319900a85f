import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { volumeSpecOf } from "../../kinds/types/persistent-volume.ts";
import { podSpecOf } from "../../kinds/types/pod.ts";
import { podSecretNames, SECRET_REFERENCES } from "../../kinds/types/pod-secret-names.ts";

/** Key of an object in the graph: `secrets ns/name`. The namespace of cluster-scoped objects is empty. */
export type ObjectReference = string;

/** Returns the key of an object in the graph. */
export function referenceTo(plural: string, namespace: string, name: string): ObjectReference {
  return `${plural} ${namespace}/${name}`;
}

/** The objects to which an object bound to a node gives that node access. */
export interface BoundObject {
  readonly node: string;
  readonly references: readonly ObjectReference[];
}

const MIRROR = "kubernetes.io/config.mirror";

/**
 * What a pod gives its node access to: itself, and what it mounts or reads. Undefined if the pod is not bound to a
 * node.
 */
export function podReferences(pod: KubeObject): BoundObject | undefined {
  const { namespace = "", name = "", annotations } = pod.metadata;
  const spec = podSpecOf(pod);
  const node = String(spec.nodeName ?? "");
  if (node === "") return undefined;
  const own = referenceTo("pods", namespace, name);
  // A mirror pod is created by the node itself and must not give it access to anything.
  if (annotations?.[MIRROR] !== undefined) return { node, references: [own] };
  const found = new Set<ObjectReference>([own]);
  const add = (plural: string, to: Json | undefined) => {
    if (typeof to === "string" && to !== "") found.add(referenceTo(plural, namespace, to));
  };
  add("serviceaccounts", spec.serviceAccountName as Json);
  for (const secret of podSecretNames(spec)) add("secrets", secret);
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  for (const { env = [], envFrom = [] } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { configMapRef } of envFrom ?? []) add("configmaps", configMapRef?.name);
    for (const { valueFrom } of env ?? []) add("configmaps", valueFrom?.configMapKeyRef?.name);
  }
  for (const volume of spec.volumes ?? []) {
    add("configmaps", volume.configMap?.name);
    for (const { configMap } of volume.projected?.sources ?? []) add("configmaps", configMap?.name);
    if (volume.persistentVolumeClaim) add("persistentvolumeclaims", volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral) add("persistentvolumeclaims", `${name}-${volume.name}`);
  }
  for (const claim of claimNames(pod)) add("resourceclaims", claim);
  return { node, references: [...found] };
}

/** The ResourceClaims of a pod that are known: named ones, and those created from its templates. */
function claimNames(pod: KubeObject): (Json | undefined)[] {
  const status = isObject(pod.status) ? pod.status : {};
  const made = (Array.isArray(status.resourceClaimStatuses) ? status.resourceClaimStatuses : []) as JsonObject[];
  const extended = isObject(status.extendedResourceClaimStatus) ? status.extendedResourceClaimStatus : {};
  const claims = (podSpecOf(pod).resourceClaims ?? []) as JsonObject[];
  const named = claims.map(({ name, resourceClaimName }) =>
    resourceClaimName === undefined ? made.find((one) => one.name === name)?.resourceClaimName : resourceClaimName,
  );
  return [...named, extended.resourceClaimName];
}

/** A claimed PersistentVolume and its secrets, to which pods with the claim have access. */
export interface ClaimedVolume {
  readonly volume: ObjectReference;
  readonly claim: ObjectReference;
  readonly secrets: readonly ObjectReference[];
}

/** Undefined if the volume is not claimed. Upstream: `VisitPVSecretNames`, limited to the secrets that kubelets see. */
export function volumeReferences(object: KubeObject): ClaimedVolume | undefined {
  const spec = volumeSpecOf(object) as JsonObject;
  const { claimRef } = spec;
  if (!isObject(claimRef)) return undefined;
  const claimNamespace = String(claimRef.namespace ?? "");
  const secrets: ObjectReference[] = [];
  const add = (reference: Json | undefined, fallback: string) => {
    if (!isObject(reference) || typeof reference.name !== "string") return;
    secrets.push(referenceTo("secrets", String(reference.namespace ?? "") || fallback, reference.name));
  };
  const { azureFile, csi } = spec;
  if (isObject(azureFile)) {
    add({ name: azureFile.secretName ?? null, namespace: azureFile.secretNamespace ?? "" }, claimNamespace);
  }
  for (const member of SECRET_REFERENCES) {
    const source = spec[member];
    if (isObject(source)) add(source.secretRef, claimNamespace);
  }
  for (const member of ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"]) {
    if (isObject(csi)) add(csi[member], "");
  }
  return {
    volume: referenceTo("persistentvolumes", "", object.metadata.name ?? ""),
    claim: referenceTo("persistentvolumeclaims", claimNamespace, String(claimRef.name ?? "")),
    secrets,
  };
}

/** An object that names its node in `spec.nodeName`. Undefined if it names none. */
export function nodeNameReferences(plural: string, { metadata, spec }: KubeObject): BoundObject | undefined {
  const node = isObject(spec) ? spec.nodeName : undefined;
  if (typeof node !== "string" || node === "") return undefined;
  return { node, references: [referenceTo(plural, metadata.namespace ?? "", metadata.name ?? "")] };
}
