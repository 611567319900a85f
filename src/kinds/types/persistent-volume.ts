import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";
import type { NodeSelector } from "./pod.ts";
import type { PersistentVolumeClaimSpec, Volume } from "./volume.ts";

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
  lastPhaseTransitionTime?: string;
  capacity?: Texts;
  allocatedResources?: Texts;
  allocatedResourceStatuses?: Texts;
  currentVolumeAttributesClassName?: string;
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
