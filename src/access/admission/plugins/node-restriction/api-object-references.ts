import type { Json } from "../../../../base/api/object.ts";
import type { PodSpec } from "../../../../kinds/types/pod.ts";
import type { Volume } from "../../../../kinds/types/volume.ts";
import { referencesSecrets } from "../secret-references.ts";

/** VolumeSources that do not refer to API objects. */
const PLAIN_SOURCES = [
  ...[
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
  ],
  ...["gcePersistentDisk", "gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume"],
  ...["quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"],
];

/** VolumeSources that refer to API objects, in the order of checking, with their name in error messages. */
const REFERRING_SOURCES: readonly (readonly [member: string, title: string])[] = [
  ["configMap", "configmaps (via configmap volumes)"],
  ["secret", "secrets (via secret volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["azureFile", "secrets (via azureFile volumes)"],
];

/** The same for sources of projected volumes. */
const PROJECTED_SOURCES: readonly (readonly [member: string, title: string])[] = [
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
];

/** A volume has an unknown source. */
export class UnknownSource extends Error {}

/**
 * The kind of API object that a pod refers to, as named in error messages. Undefined if it refers to none. Throws
 * UnknownSource for volumes of an unknown type. Upstream: `HasAPIObjectReference`.
 */
export function apiObjectReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return "serviceaccounts";
  if (referencesSecrets(spec)) return "secrets";
  if (referencesConfigMaps(spec)) return "configmaps";
  if ((spec.resourceClaims ?? []).length > 0) return "resourceclaims";
  for (const volume of spec.volumes ?? []) {
    const found = volumeReference(volume);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null;

function volumeReference(volume: Volume): string | undefined {
  if (PLAIN_SOURCES.some((member) => isSet(volume[member]))) return undefined;
  const referring = REFERRING_SOURCES.find(([member]) => isSet(volume[member]));
  if (referring) return referring[1];
  if (!isSet(volume.projected)) throw new UnknownSource(`unknown volume type for volume  "${volume.name ?? ""}"`);
  for (const source of volume.projected?.sources ?? []) {
    const projected = PROJECTED_SOURCES.find(([member]) => isSet(source[member]));
    if (projected) return projected[1];
    if (!isSet(source.downwardAPI)) {
      throw new UnknownSource(`unknown source for projected volume "${volume.name ?? ""}"`);
    }
  }
  return undefined;
}

function referencesConfigMaps(spec: PodSpec): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  return (
    containers.some(({ envFrom }) => (envFrom ?? []).some(({ configMapRef }) => configMapRef?.name)) ||
    containers.some(({ env }) => (env ?? []).some(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)) ||
    (spec.volumes ?? []).some(
      ({ configMap, projected }) =>
        configMap?.name || (projected?.sources ?? []).some((source) => source.configMap?.name),
    )
  );
}
