import { type FieldError, forbiddenField, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import { isObject, type JsonObject } from "../../../../base/api/object.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { PersistentVolumeSpec, SecretReference } from "../../../types/persistent-volume.ts";
import type * as types from "../../../types/volume.ts";
import { pushBackstepErrors } from "../../shared-rules/file-paths.ts";
import { inRange, labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { strictOptions } from "../pod/pod-validation-options.ts";
import { isQualifiedIscsiName } from "./iscsi-names.ts";
import { checkRequired } from "./volume-checks.ts";
import { checkDriverName, checkSource, type SourcePlace } from "./volume-source-validation.ts";

type Check = (errors: FieldError[], source: JsonObject, path: string, name: string) => void;

/** The check of a source that is validated as in pods. */
const asInPods =
  (member: SourcePlace["member"]): Check =>
  (errors, source, path) =>
    checkSource(errors, { member, path }, source, strictOptions);

/** The PersistentVolumeSources, in the order of `ValidatePersistentVolumeSpec`. */
const CHECKS: Readonly<Record<string, Check>> = {
  hostPath: asInPods("hostPath"),
  gcePersistentDisk: asInPods("gcePersistentDisk"),
  awsElasticBlockStore: asInPods("awsElasticBlockStore"),
  glusterfs: checkGlusterfs,
  flocker: asInPods("flocker"),
  nfs: asInPods("nfs"),
  rbd: asInPods("rbd"),
  quobyte: asInPods("quobyte"),
  cephfs: asInPods("cephfs"),
  iscsi: checkIscsi,
  cinder: checkCinder,
  fc: asInPods("fc"),
  flexVolume: asInPods("flexVolume"),
  azureFile: checkAzureFile,
  vsphereVolume: asInPods("vsphereVolume"),
  photonPersistentDisk: asInPods("photonPersistentDisk"),
  portworxVolume: asInPods("portworxVolume"),
  azureDisk: asInPods("azureDisk"),
  scaleIO: asInPods("scaleIO"),
  local: checkLocal,
  storageos: checkStorageOs,
  csi: checkCsi,
};

/** The names of all PersistentVolumeSources. */
export const VOLUME_SOURCES = Object.keys(CHECKS);

/** Compat: upstream's paths say `persistentDisk` for an invalid gcePersistentDisk, and `cephFS` for a second source. */
const NAMES_WHEN_WRONG: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
const NAMES_WHEN_FORBIDDEN: Readonly<Record<string, string>> = { cephfs: "cephFS" };

/** Validates the PersistentVolumeSource: exactly one is required. */
export function sourceErrors(spec: PersistentVolumeSpec, volumeName: string): FieldError[] {
  const errors: FieldError[] = [];
  let isTaken = false;
  for (const [member, check] of Object.entries(CHECKS)) {
    const source = spec[member];
    if (!isObject(source)) continue;
    // Compat: `ValidatePersistentVolumeSpec` does not count `flexVolume` among "more than 1 volume type".
    if (isTaken && member !== "flexVolume") {
      const path = `spec.${getMember(NAMES_WHEN_FORBIDDEN, member) ?? member}`;
      errors.push(forbiddenField(path, "may not specify more than 1 volume type"));
      continue;
    }
    isTaken = true;
    check(errors, source, `spec.${getMember(NAMES_WHEN_WRONG, member) ?? member}`, volumeName);
    if (member === "local" && !spec.nodeAffinity) {
      errors.push(requiredField("spec.nodeAffinity", "Local volume requires node affinity"));
    }
  }
  if (!isTaken) errors.push(requiredField("spec", "must specify a volume type"));
  return errors;
}

function checkGlusterfs(errors: FieldError[], source: JsonObject, path: string): void {
  checkRequired(errors, source, path, ["endpoints", "path"]);
  const { endpointsNamespace: namespace } = source;
  if (typeof namespace !== "string") return;
  const at = `${path}.endpointsNamespace`;
  const text = "if the endpointnamespace is set, it must be a valid namespace name";
  pushInvalid(errors, at, namespace, namespace === "" ? [text] : labelName(namespace));
}

const NUMBER = /^(?:eui.[0-9A-Za-z]{16}|naa.[0-9A-Za-z]{32})$/;

function isInitiator(name: string): boolean {
  return name.startsWith("iqn") ? isQualifiedIscsiName(name) : NUMBER.test(name);
}

function checkIscsi(errors: FieldError[], source: types.ISCSIVolumeSource, path: string, volumeName: string): void {
  const { targetPortal = "", iqn = "", lun = 0, secretRef, initiatorName } = source;
  checkRequired(errors, source, path, ["targetPortal"]);
  if (initiatorName !== undefined && byteLength(`${volumeName}:${targetPortal}`) > 64) {
    const text =
      "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
    errors.push(invalidField(`${path}.targetportal`, targetPortal, text));
  }
  if (iqn === "") errors.push(requiredField(`${path}.iqn`));
  else if (!isInitiator(iqn)) errors.push(invalidField(`${path}.iqn`, iqn, "must be valid format"));
  pushInvalid(errors, `${path}.lun`, lun, inRange(lun, 0, 255));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !secretRef) {
    errors.push(requiredField(`${path}.secretRef`));
  }
  if (secretRef) checkRequired(errors, secretRef, `${path}.secretRef`, ["name"]);
  if (initiatorName !== undefined && !isInitiator(initiatorName)) {
    errors.push(invalidField(`${path}.initiatorname`, initiatorName, "must be valid format"));
  }
}

function checkCinder(errors: FieldError[], source: types.CinderVolumeSource, path: string): void {
  checkRequired(errors, source, path, ["volumeID"]);
  if (source.secretRef) checkRequired(errors, source.secretRef, `${path}.secretRef`, ["name", "namespace"]);
}

function checkAzureFile(errors: FieldError[], source: JsonObject, path: string): void {
  checkRequired(errors, source, path, ["secretName", "shareName"]);
  if (source.secretNamespace === "") errors.push(requiredField(`${path}.secretNamespace`));
}

function checkLocal(errors: FieldError[], { path: place = "" }: JsonObject, path: string): void {
  if (place === "") errors.push(requiredField(`${path}.path`));
  else pushBackstepErrors(errors, `${path}.path`, String(place));
}

function checkStorageOs(errors: FieldError[], source: types.StorageOSVolumeSource, path: string): void {
  const { volumeName = "", volumeNamespace = "", secretRef } = source;
  if (volumeName === "") errors.push(requiredField(`${path}.volumeName`));
  else pushInvalid(errors, `${path}.volumeName`, volumeName, labelName(volumeName));
  if (volumeNamespace !== "") {
    pushInvalid(errors, `${path}.volumeNamespace`, volumeNamespace, labelName(volumeNamespace));
  }
  if (secretRef) checkRequired(errors, secretRef, `${path}.secretRef`, ["name", "namespace"]);
}

const CSI_SECRETS = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function checkCsi(errors: FieldError[], source: JsonObject, path: string): void {
  checkDriverName(errors, String(source.driver ?? ""), `${path}.driver`);
  checkRequired(errors, source, path, ["volumeHandle"]);
  for (const member of CSI_SECRETS) {
    const secret = source[member];
    if (isObject(secret)) checkSecret(errors, secret, `${path}.${member}`);
  }
}

function checkSecret(errors: FieldError[], { name = "", namespace = "" }: SecretReference, path: string): void {
  if (name === "") errors.push(requiredField(`${path}.name`));
  else pushInvalid(errors, `${path}.name`, name, subdomainName(name));
  if (namespace === "") errors.push(requiredField(`${path}.namespace`));
  else pushInvalid(errors, `${path}.namespace`, namespace, labelName(namespace));
}
