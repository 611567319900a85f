import { isObject, type Json, type JsonObject, type KubeObject } from "../../api/object.ts";
import { volumeSpecOf } from "../../types/persistent-volume.ts";
import { podSpecOf } from "../../types/pod.ts";
import type { Volume } from "../../types/volume.ts";

/** What one object means to another: `secrets ns/name`. Objects without a namespace have an empty one. */
export type ObjectReference = string;

/** Names an object in the graph. */
export function referenceTo(plural: string, namespace: string, name: string): ObjectReference {
  return `${plural} ${namespace}/${name}`;
}

/** What an object gives the node that it is bound to access to. */
export interface BoundObject {
  readonly node: string;
  readonly references: readonly ObjectReference[];
}

const MIRROR = "kubernetes.io/config.mirror";

/** What a pod gives its node access to: itself, and what it mounts or reads. Undefined: it has no node yet. */
export function podReferences(pod: KubeObject): BoundObject | undefined {
  const { namespace = "", name = "", annotations } = pod.metadata;
  const spec = podSpecOf(pod);
  const node = String(spec.nodeName ?? "");
  if (node === "") return undefined;
  const own = referenceTo("pods", namespace, name);
  // A mirror pod is made by the node itself and must give it nothing.
  if (annotations?.[MIRROR] !== undefined) return { node, references: [own] };
  const found = new Set<ObjectReference>([own]);
  const add = (plural: string, to: Json | undefined) => {
    if (typeof to === "string" && to !== "") found.add(referenceTo(plural, namespace, to));
  };
  add("serviceaccounts", spec.serviceAccountName as Json);
  for (const secret of spec.imagePullSecrets ?? []) add("secrets", secret.name);
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  for (const { env = [], envFrom = [] } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { secretRef, configMapRef } of envFrom ?? []) {
      add("secrets", secretRef?.name);
      add("configmaps", configMapRef?.name);
    }
    for (const { valueFrom } of env ?? []) {
      add("secrets", valueFrom?.secretKeyRef?.name);
      add("configmaps", valueFrom?.configMapKeyRef?.name);
    }
  }
  for (const volume of spec.volumes ?? []) {
    for (const secret of volumeSecrets(volume)) add("secrets", secret);
    add("configmaps", volume.configMap?.name);
    for (const { secret, configMap } of volume.projected?.sources ?? []) {
      add("secrets", secret?.name);
      add("configmaps", configMap?.name);
    }
    if (volume.persistentVolumeClaim) add("persistentvolumeclaims", volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral) add("persistentvolumeclaims", `${name}-${volume.name}`);
  }
  for (const claim of claimNames(pod)) add("resourceclaims", claim);
  return { node, references: [...found] };
}

/** Volumes that need a secret, and where they name it. */
const SECRET_REFERENCES = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"] as const;

function volumeSecrets(volume: Volume): (Json | undefined)[] {
  const { azureFile, secret, csi } = volume;
  const named = SECRET_REFERENCES.map((member) => nameIn(volume[member] as Json | undefined, "secretRef"));
  return [azureFile?.secretName, secret?.secretName, nameIn(csi, "nodePublishSecretRef"), ...named];
}

function nameIn(source: Json | undefined, member: string): Json | undefined {
  const reference = isObject(source) ? source[member] : undefined;
  return isObject(reference) ? reference.name : undefined;
}

/** The ResourceClaims of a pod that are known: named ones, and those made from its templates. */
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

/** What a PersistentVolume that is claimed gives to those who have its claim. */
export interface ClaimedVolume {
  readonly volume: ObjectReference;
  readonly claim: ObjectReference;
  readonly secrets: readonly ObjectReference[];
}

/** Undefined: the volume is not claimed. Upstream: `VisitPVSecretNames`, of which kubelets see these. */
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

/** An object that names its node in `spec.nodeName`. Undefined: it names none. */
export function nodeNameReferences(plural: string, { metadata, spec }: KubeObject): BoundObject | undefined {
  const node = isObject(spec) ? spec.nodeName : undefined;
  if (typeof node !== "string" || node === "") return undefined;
  return { node, references: [referenceTo(plural, metadata.namespace ?? "", metadata.name ?? "")] };
}
