import type { Volume, VolumeProjection } from "../../../types/volume.ts";
import { imageTag } from "../../shared-rules/image-name.ts";
import { roundResources } from "../../shared-rules/quantities.ts";

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;

/** Sets defaults of a Volume: emptyDir, and fields of its source. Changes `volume`. */
export function setVolumeDefaults(volume: Volume): void {
  const { name: _, ...sources } = volume;
  if (Object.keys(sources).length === 0) volume.emptyDir = {};
  setFileDefaults(volume);
  setBlockDefaults(volume);
  const { image, hostPath, ephemeral } = volume;
  if (image && (image.pullPolicy ?? "") === "") {
    image.pullPolicy = imageTag(image.reference ?? "") === "latest" ? "Always" : "IfNotPresent";
  }
  if (hostPath) hostPath.type ??= "";
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim) {
    claim.volumeMode ??= "Filesystem";
    roundResources(claim.resources);
  }
}

/** Defaults of secret, configMap, downwardAPI and projected. */
function setFileDefaults({ secret, configMap, downwardAPI, projected }: Volume): void {
  for (const source of [secret, configMap, downwardAPI, projected]) if (source) source.defaultMode ??= FILE_MODE;
  setDownwardDefaults(downwardAPI);
  for (const source of projected?.sources ?? []) setProjectionDefaults(source);
}

function setProjectionDefaults({ downwardAPI, serviceAccountToken }: VolumeProjection): void {
  setDownwardDefaults(downwardAPI);
  if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
}

function setDownwardDefaults(source: Volume["downwardAPI"] | VolumeProjection["downwardAPI"]): void {
  for (const { fieldRef } of source?.items ?? []) if (fieldRef) fieldRef.apiVersion ??= "v1";
}

/** Defaults of iscsi, rbd, azureDisk and scaleIO. */
function setBlockDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ??= "default";
  if (rbd) {
    rbd.pool ??= "rbd";
    rbd.user ??= "admin";
    rbd.keyring ??= "/etc/ceph/keyring";
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= "Shared";
  }
  if (scaleIO) {
    scaleIO.storageMode ??= "ThinProvisioned";
    scaleIO.fsType ??= "xfs";
  }
}
