import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";
import type { NodeSelector } from "./pod.ts";
import type { PersistentVolumeClaimSpec, Volume } from "./volume.ts";

/** ObjectReference of core/v1. */
export interface ObjectReference extends JsonObject {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
}

/** SecretReference of core/v1. */
export interface SecretReference extends JsonObject {
  name?: string;
  namespace?: string;
}

/** PersistentVolumeSpec of core/v1. Only has volume sources that outlive pods. */
export interface PersistentVolumeSpec extends JsonObject {
  accessModes?: string[];
  capacity?: Texts;
  persistentVolumeReclaimPolicy?: string;
  nodeAffinity?: { required?: NodeSelector };
  storageClassName?: string;
  volumeMode?: string;
  volumeAttributesClassName?: string;
  claimRef?: ObjectReference;
  mountOptions?: string[];
  nfs?: Volume["nfs"];
  hostPath?: Volume["hostPath"];
  iscsi?: Volume["iscsi"];
  rbd?: Volume["rbd"];
  azureDisk?: Volume["azureDisk"];
  scaleIO?: Volume["scaleIO"];
  csi?: { controllerExpandSecretRef?: SecretReference } & JsonObject;
}

/** PersistentVolumeStatus or PersistentVolumeClaimStatus of core/v1. */
export interface VolumeStatus extends JsonObject {
  phase?: string;
  message?: string;
  lastPhaseTransitionTime?: string;
  capacity?: Texts;
  allocatedResources?: Texts;
  allocatedResourceStatuses?: Texts;
  currentVolumeAttributesClassName?: string;
}

/** PersistentVolume of core/v1. */
export interface PersistentVolume extends KubeObject {
  spec: PersistentVolumeSpec;
  status?: VolumeStatus;
}

/** PersistentVolumeClaimStatus of core/v1. */
export interface PersistentVolumeClaimStatus extends VolumeStatus {
  accessModes?: string[];
  conditions?: ClaimCondition[];
  modifyVolumeStatus?: { targetVolumeAttributesClassName?: string; status?: string };
}

/** PersistentVolumeClaimCondition of core/v1. */
export interface ClaimCondition extends JsonObject {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/** PersistentVolumeClaim of core/v1. */
export interface PersistentVolumeClaim extends KubeObject {
  spec: PersistentVolumeClaimSpec;
  status?: PersistentVolumeClaimStatus;
}

/** The spec of a PersistentVolume. */
export function volumeSpecOf({ spec }: KubeObject): PersistentVolumeSpec {
  return isObject(spec) ? spec : {};
}

/** The spec of a PersistentVolumeClaim. */
export function claimSpecOf({ spec }: KubeObject): PersistentVolumeClaimSpec {
  return isObject(spec) ? spec : {};
}

/** The status of a PersistentVolume or PersistentVolumeClaim; created if it is missing. */
export function statusOf(object: KubeObject): VolumeStatus {
  if (!isObject(object.status)) object.status = {};
  return object.status as VolumeStatus;
}
