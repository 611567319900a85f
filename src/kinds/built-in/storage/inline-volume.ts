import path from "node:path";
import { type FieldError, forbiddenField, requiredField } from "../../../base/api/field-error.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { PersistentVolumeSpec } from "../../types/persistent-volume.ts";
import { accessModeErrors } from "../core/volume/claim-spec-validation.ts";
import { sourceErrors } from "../core/volume/persistent-volume-sources.ts";
import { setVolumeDefaults } from "../core/volume/volume-defaults.ts";
import { roundResourceList } from "../shared-rules/quantities.ts";

const INLINE = "in the context of inline volumes";
const NOT_INLINE = `may not be specified ${INLINE}`;

/** Sets defaults of `spec.source.inlineVolumeSpec` of a VolumeAttachment. */
export function setInlineVolumeDefaults(spec: PersistentVolumeSpec): void {
  const { hostPath, iscsi, rbd, azureDisk, scaleIO } = spec;
  setVolumeDefaults({ hostPath, iscsi, rbd, azureDisk, scaleIO });
  roundResourceList(spec.capacity);
}

/** Validates `spec.source.inlineVolumeSpec` of a VolumeAttachment. */
export function inlineVolumeErrors(spec: PersistentVolumeSpec, at: string): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = "", hostPath, volumeMode } = spec;
  const errors: FieldError[] = [];
  const forbid = (member: string, text = NOT_INLINE) => errors.push(forbiddenField(`${at}.${member}`, text));
  if (spec.claimRef !== undefined) forbid("claimRef");
  if (Object.keys(spec.capacity ?? {}).length > 0) forbid("capacity");
  if (!spec.csi) errors.push(requiredField(`${at}.csi`, `has to be specified ${INLINE}`));
  if (accessModes.length === 0) errors.push(requiredField(`${at}.accessModes`));
  addAll(errors, accessModeErrors(accessModes, `${at}.accessModes`));
  if (policy !== "" && policy !== "Retain") forbid("persistentVolumeReclaimPolicy", `may only be Retain ${INLINE}`);
  if (spec.nodeAffinity) forbid("nodeAffinity");
  // The errors of sources have paths as in the spec of a PersistentVolume.
  for (const { field, ...rest } of sourceErrors(spec, "")) errors.push({ ...rest, field: field.replace(/^spec/, at) });
  if (hostPath && policy === "Recycle" && path.posix.normalize(`${hostPath.path ?? ""}/`) === "/") {
    forbid("persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
  }
  if (spec.storageClassName) forbid("storageClassName");
  if (volumeMode !== undefined && volumeMode !== "Filesystem") {
    forbid("volumeMode", `may not specify volumeMode other than Filesystem ${INLINE}`);
  }
  return errors;
}
