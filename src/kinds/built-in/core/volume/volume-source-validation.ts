import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import type * as types from "../../../types/volume.ts";
import { pushBackstepErrors, pushDescendingErrors } from "../../shared-rules/file-paths.ts";
import { inRange, labelName, pushInvalid, rangeMessage, subdomainName } from "../../shared-rules/formats.ts";
import { checkDownwardFile } from "../container/downward-api-validation.ts";
import { checkPullPolicy } from "../container/pull-policy.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { validateClaimTemplate } from "./claim-spec-validation.ts";
import { isQualifiedIscsiName } from "./iscsi-names.ts";
import { checkProjected } from "./projected-volume-validation.ts";
import { checkKeyToPath, checkMode, checkOwner, checkRequired } from "./volume-checks.ts";

type Check = (errors: FieldError[], source: JsonObject, path: string, options: PodOptions) => void;

/** The check of a VolumeSource that only has required fields. */
const requiring =
  (...members: string[]): Check =>
  (errors, source, path) =>
    checkRequired(errors, source, path, members);

/** The VolumeSources, in the order of upstream's `validateVolumeSource`. */
const CHECKS = {
  emptyDir: checkEmptyDir,
  hostPath: checkHostPath,
  gitRepo: checkGitRepo,
  gcePersistentDisk: checkPartition("pdName"),
  awsElasticBlockStore: checkPartition("volumeID"),
  secret: checkKeyFiles("secretName"),
  nfs: checkNfs,
  iscsi: checkIscsi,
  glusterfs: requiring("endpoints", "path"),
  flocker: checkFlocker,
  persistentVolumeClaim: requiring("claimName"),
  rbd: requiring("monitors", "image"),
  cinder: checkCinder,
  cephfs: requiring("monitors"),
  quobyte: checkQuobyte,
  downwardAPI: checkDownwardApi,
  fc: checkFibreChannel,
  flexVolume: checkFlex,
  configMap: checkKeyFiles("name"),
  azureFile: requiring("secretName", "shareName"),
  vsphereVolume: requiring("volumePath"),
  photonPersistentDisk: requiring("pdID"),
  portworxVolume: requiring("volumeID"),
  azureDisk: checkAzureDisk,
  storageos: checkStorageOs,
  projected: checkProjected as Check,
  scaleIO: requiring("gateway", "system", "volumeName"),
  csi: checkCsi,
  ephemeral: checkEphemeral,
  image: checkImage,
} satisfies Record<string, Check>;

/** The names of all VolumeSources, in the same order. */
export const SOURCES = Object.keys(CHECKS) as (keyof typeof CHECKS)[];

/** Name and field path of a VolumeSource. */
export interface SourcePlace {
  readonly member: keyof typeof CHECKS;
  readonly path: string;
}

/** Validates one VolumeSource. */
export function checkSource(
  errors: FieldError[],
  { member, path }: SourcePlace,
  source: JsonObject,
  options: PodOptions,
): void {
  (CHECKS[member] as Check)(errors, source, path, options);
}

function checkEmptyDir(errors: FieldError[], { sizeLimit, mode }: types.EmptyDirVolumeSource, path: string): void {
  if (sizeLimit !== undefined && parseQuantity(sizeLimit).mantissa < 0n) {
    errors.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  }
  if (mode !== undefined && inRange(mode, 0, 0o1777).length > 0) {
    const text = "must be a number between 0 and 01777 (octal), both inclusive";
    errors.push(invalidField(`${path}.mode`, mode, text));
  }
}

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

function checkHostPath(errors: FieldError[], source: types.HostPathVolumeSource, path: string): void {
  const { path: place = "", type } = source;
  if (place === "") {
    errors.push(requiredField(`${path}.path`));
    return;
  }
  pushBackstepErrors(errors, `${path}.path`, place);
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) {
    errors.push(notSupportedField(`${path}.type`, type, HOST_PATH_TYPES));
  }
}

function checkGitRepo(errors: FieldError[], source: types.GitRepoVolumeSource, path: string): void {
  checkRequired(errors, source, path, ["repository"]);
  pushDescendingErrors(errors, `${path}.directory`, source.directory ?? "");
}

function checkPartition(name: string): Check {
  return (errors, source: types.AWSElasticBlockStoreVolumeSource, path) => {
    checkRequired(errors, source, path, [name]);
    const { partition = 0 } = source;
    // Compat: `partition` 0 is accepted although the message says "between 1 and 255".
    if (inRange(partition, 0, 255).length === 0) return;
    errors.push(invalidField(`${path}.partition`, partition, rangeMessage(1, 255)));
  };
}

function checkKeyFiles(name: string): Check {
  return (errors, source: types.SecretVolumeSource, path) => {
    checkRequired(errors, source, path, [name]);
    checkMode(errors, source.defaultMode, `${path}.defaultMode`);
    checkOwner(errors, source.defaultUser, `${path}.defaultUser`);
    for (const [index, item] of (source.items ?? []).entries()) checkKeyToPath(errors, item, `${path}.items[${index}]`);
  };
}

function checkNfs(errors: FieldError[], source: types.NFSVolumeSource, path: string): void {
  checkRequired(errors, source, path, ["server", "path"]);
  const { path: place = "" } = source;
  if (!place.startsWith("/")) errors.push(invalidField(`${path}.path`, place, "must be an absolute path"));
}

const INITIATORS: readonly [prefix: string, isValid: (name: string) => boolean][] = [
  ["iqn", isQualifiedIscsiName],
  ["eui", (name) => /^eui.[0-9A-Za-z]{16}$/.test(name)],
  ["naa", (name) => /^naa.[0-9A-Za-z]{32}$/.test(name)],
];

function initiatorErrors(name: string): string[] {
  const known = INITIATORS.find(([prefix]) => name.startsWith(prefix));
  if (!known) return ["must be valid format starting with iqn, eui, or naa"];
  return known[1](name) ? [] : ["must be valid format"];
}

function checkIscsi(errors: FieldError[], source: types.ISCSIVolumeSource, path: string): void {
  const { iqn = "", lun = 0, initiatorName } = source;
  checkRequired(errors, source, path, ["targetPortal", "iqn"]);
  if (iqn !== "") pushInvalid(errors, `${path}.iqn`, iqn, initiatorErrors(iqn));
  pushInvalid(errors, `${path}.lun`, lun, inRange(lun, 0, 255));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    errors.push(requiredField(`${path}.secretRef`));
  }
  if (initiatorName !== undefined) {
    pushInvalid(errors, `${path}.initiatorname`, initiatorName, initiatorErrors(initiatorName));
  }
}

function checkFlocker(errors: FieldError[], source: types.FlockerVolumeSource, path: string): void {
  const { datasetName = "", datasetUUID = "" } = source;
  if (datasetName === "" && datasetUUID === "") {
    errors.push(requiredField(path, "one of datasetName and datasetUUID is required"));
  }
  if (datasetName !== "" && datasetUUID !== "") {
    errors.push(invalidField(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (datasetName.includes("/")) {
    errors.push(invalidField(`${path}.datasetName`, datasetName, "must not contain '/'"));
  }
}

function checkSecretName(errors: FieldError[], secret: JsonObject | undefined, path: string): void {
  if (secret) checkRequired(errors, secret, path, ["name"]);
}

function checkCinder(errors: FieldError[], source: types.CinderVolumeSource, path: string): void {
  checkRequired(errors, source, path, ["volumeID"]);
  checkSecretName(errors, source.secretRef, `${path}.secretRef`);
}

const PAIRS = "must be a host:port pair or multiple pairs separated by commas";

function checkQuobyte(errors: FieldError[], source: types.QuobyteVolumeSource, path: string): void {
  const { registry = "", tenant = "" } = source;
  if (registry === "") {
    errors.push(requiredField(`${path}.registry`, PAIRS));
  } else if (byteLength(tenant) >= 65) {
    errors.push(requiredField(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (const pair of registry.split(",")) {
      if (!isHostAndPort(pair)) errors.push(invalidField(`${path}.registry`, registry, PAIRS));
    }
  }
  checkRequired(errors, source, path, ["volume"]);
}

function isHostAndPort(pair: string): boolean {
  return /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(pair);
}

function checkDownwardApi(errors: FieldError[], source: types.DownwardAPIVolumeSource, path: string): void {
  checkMode(errors, source.defaultMode, `${path}.defaultMode`);
  checkOwner(errors, source.defaultUser, `${path}.defaultUser`);
  // Compat: errors on `downwardAPI.items` have the path of the source, without an index.
  for (const file of source.items ?? []) checkDownwardFile(errors, file, path);
}

function checkFibreChannel(errors: FieldError[], source: types.FCVolumeSource, path: string): void {
  const { targetWWNs = [], wwids = [], lun } = source;
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(requiredField(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  }
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) {
    const text = "targetWWNs and wwids can not be specified simultaneously";
    errors.push(invalidField(`${path}.targetWWNs`, targetWWNs, text));
  }
  if (lun === undefined) errors.push(requiredField(`${path}.lun`, "lun is required if targetWWNs is specified"));
  else pushInvalid(errors, `${path}.lun`, lun, inRange(lun, 0, 255));
}

/** Rejects options of a flexVolume in the domains kubernetes.io and k8s.io. */
function checkFlex(errors: FieldError[], source: types.FlexVolumeSource, path: string): void {
  checkRequired(errors, source, path, ["driver"]);
  for (const key of Object.keys(source.options ?? {})) {
    const slash = key.indexOf("/");
    const domain = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (!domain.endsWith(".kubernetes.io") && !domain.endsWith(".k8s.io")) continue;
    errors.push(invalidField(`${path}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved"));
  }
}

const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];
const MANAGED_URI = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_URI = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

function checkAzureDisk(errors: FieldError[], source: types.AzureDiskVolumeSource, path: string): void {
  const { diskURI = "", cachingMode, kind } = source;
  checkRequired(errors, source, path, ["diskName", "diskURI"]);
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode)) {
    errors.push(notSupportedField(`${path}.cachingMode`, cachingMode, CACHING_MODES));
  }
  if (kind === undefined) return;
  if (!DISK_KINDS.includes(kind)) errors.push(notSupportedField(`${path}.kind`, kind, DISK_KINDS));
  const [start, form] = kind === "Managed" ? ["/subscriptions/", MANAGED_URI] : ["https://", BLOB_URI];
  if (!diskURI.startsWith(start)) errors.push(notSupportedField(`${path}.diskURI`, diskURI, [form]));
}

function checkStorageOs(errors: FieldError[], source: types.StorageOSVolumeSource, path: string): void {
  const { volumeName = "", volumeNamespace = "" } = source;
  if (volumeName === "") errors.push(requiredField(`${path}.volumeName`));
  else pushInvalid(errors, `${path}.volumeName`, volumeName, labelName(volumeName));
  if (volumeNamespace !== "") {
    pushInvalid(errors, `${path}.volumeNamespace`, volumeNamespace, labelName(volumeNamespace));
  }
  checkSecretName(errors, source.secretRef, `${path}.secretRef`);
}

/** Validates the name of a CSI driver. Upstream: `ValidateCSIDriverName`. */
export function checkDriverName(errors: FieldError[], driver: string, path: string): void {
  if (driver === "") {
    errors.push(requiredField(path));
    return;
  }
  if (byteLength(driver) > 63) {
    errors.push({ type: "FieldValueTooLong", field: path, message: "Too long: may not be more than 63 bytes" });
  }
  pushInvalid(errors, path, driver, subdomainName(driver.toLowerCase()));
}

function checkCsi(errors: FieldError[], source: types.CSIVolumeSource, path: string): void {
  checkDriverName(errors, source.driver ?? "", `${path}.driver`);
  if (!source.nodePublishSecretRef) return;
  const { name = "" } = source.nodePublishSecretRef;
  if (name === "") errors.push(requiredField(`${path}.nodePublishSecretRef.name`));
  else pushInvalid(errors, `${path}.name`, name, subdomainName(name));
}

function checkEphemeral(errors: FieldError[], source: types.EphemeralVolumeSource, path: string): void {
  const template = source.volumeClaimTemplate;
  if (!template) errors.push(requiredField(`${path}.volumeClaimTemplate`));
  else validateClaimTemplate(errors, template, `${path}.volumeClaimTemplate`);
}

function checkImage(
  errors: FieldError[],
  source: types.ImageVolumeSource,
  path: string,
  { allowsEmptyImageReference }: PodOptions,
): void {
  if (!allowsEmptyImageReference) checkRequired(errors, source, path, ["reference"]);
  checkPullPolicy(errors, source.pullPolicy ?? "", `${path}.pullPolicy`);
}
