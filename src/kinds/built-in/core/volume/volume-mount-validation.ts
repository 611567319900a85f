import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import type { Container, VolumeMount } from "../../../types/container.ts";
import type { Volume } from "../../../types/volume.ts";
import { pushDescendingErrors } from "../../shared-rules/file-paths.ts";

type Volumes = ReadonlyMap<string, Volume>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const READ_ONLY_MODES = ["Disabled", "Enabled", "IfPossible"];
const MOUNT_OPTIONS = ["noexec", "nodev", "nosuid"].sort();

/** Validates volumeMounts of a container. */
export function validateVolumeMounts(errors: FieldError[], container: Container, path: string, volumes: Volumes): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  if (volumeMounts.length === 0) return;
  const deviceNames = new Set(volumeDevices.map(({ name = "" }) => name));
  const devicePaths = new Set(lastByName(volumeDevices, "devicePath").values());
  const points = new Set<string>();
  for (const [index, mount] of volumeMounts.entries()) {
    const at = `${path}[${index}]`;
    const { name = "", mountPath = "" } = mount;
    if (name === "") errors.push(requiredField(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFoundField(`${at}.name`, name));
    if (mountPath === "") errors.push(requiredField(`${at}.mountPath`));
    if (points.has(mountPath)) errors.push(invalidField(`${at}.mountPath`, mountPath, "must be unique"));
    points.add(mountPath);
    if (deviceNames.has(name)) {
      errors.push(invalidField(`${at}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devicePaths.has(mountPath)) {
      errors.push(invalidField(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
    }
    checkSubPath(errors, mount, path, at);
    checkPropagation(errors, mount, container, `${path}.mountPropagation`);
    checkReadOnly(errors, mount, `${path}.recursiveReadOnly`);
    checkMountOptions(errors, mount, `${at}.bindMountOptions`, volumes);
  }
}

/**
 * Compat: of volumeMounts or volumeDevices with the same name only the last counts, since upstream keeps them in a map
 * (`GetVolumeMountMap`).
 */
function lastByName(items: readonly { name?: string }[], member: string): Map<string, string> {
  return new Map(
    items.map((item) => [item.name ?? "", ((item as Record<string, unknown>)[member] as string | undefined) ?? ""]),
  );
}

// Compat: errors on `subPath` and `subPathExpr` have the path `volumeMounts` without an index.
function checkSubPath(errors: FieldError[], mount: VolumeMount, path: string, at: string): void {
  const { subPath = "", subPathExpr = "" } = mount;
  if (subPath !== "") pushDescendingErrors(errors, `${path}.subPath`, subPath);
  if (subPathExpr === "") return;
  if (subPath !== "") {
    const text = "subPathExpr and subPath are mutually exclusive";
    errors.push(invalidField(`${at}.subPathExpr`, subPathExpr, text));
  }
  pushDescendingErrors(errors, `${path}.subPathExpr`, subPathExpr);
}

function checkPropagation(
  errors: FieldError[],
  { mountPropagation }: VolumeMount,
  { securityContext }: Container,
  path: string,
): void {
  if (mountPropagation === undefined) return;
  if (!PROPAGATIONS.includes(mountPropagation)) {
    errors.push(notSupportedField(path, mountPropagation, PROPAGATIONS));
  }
  if (mountPropagation === "Bidirectional" && !securityContext?.privileged) {
    const text = "Bidirectional mount propagation is available only to privileged containers";
    errors.push(forbiddenField(path, text));
  }
}

function checkReadOnly(errors: FieldError[], mount: VolumeMount, path: string): void {
  const { recursiveReadOnly, readOnly, mountPropagation = "None" } = mount;
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  if (!READ_ONLY_MODES.includes(recursiveReadOnly)) {
    errors.push(notSupportedField(path, recursiveReadOnly, READ_ONLY_MODES));
    return;
  }
  if (!readOnly) errors.push(forbiddenField(path, "may only be specified when readOnly is true"));
  if (mountPropagation !== "None") {
    const text = "may only be specified when mountPropagation is None or not specified";
    errors.push(forbiddenField(path, text));
  }
}

function checkMountOptions(errors: FieldError[], mount: VolumeMount, path: string, volumes: Volumes): void {
  const { bindMountOptions = [], name = "" } = mount;
  const seen = new Set<string>();
  for (const [index, option] of bindMountOptions.entries()) {
    const at = `${path}[${index}]`;
    if (!MOUNT_OPTIONS.includes(option)) errors.push(notSupportedField(at, option, MOUNT_OPTIONS));
    if (seen.has(option)) errors.push(duplicateField(at, option));
    seen.add(option);
  }
  if (bindMountOptions.length > 0 && volumes.get(name)?.image) {
    errors.push(invalidField(path, bindMountOptions, "bindMountOptions may not be used with image volumes"));
  }
}

/** Validates volumeDevices of a container. */
export function validateVolumeDevices(
  errors: FieldError[],
  { volumeDevices = [], volumeMounts = [] }: Container,
  path: string,
  volumes: Volumes,
): void {
  if (volumeDevices.length === 0) return;
  const mountNames = new Set(volumeMounts.map(({ name = "" }) => name));
  const mountPaths = new Set(lastByName(volumeMounts, "mountPath").values());
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name = "", devicePath = "" }] of volumeDevices.entries()) {
    const at = `${path}[${index}]`;
    const refuse = (member: string, value: string, text: string) =>
      errors.push(invalidField(`${at}.${member}`, value, text));
    const volume = volumes.get(name);
    if (name === "") errors.push(requiredField(`${at}.name`));
    if (names.has(name)) refuse("name", name, "must be unique");
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
      refuse("name", name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (!volume) errors.push(notFoundField(`${at}.name`, name));
    if (devicePath === "") errors.push(requiredField(`${at}.devicePath`));
    if (paths.has(devicePath)) refuse("devicePath", devicePath, "must be unique");
    if (devicePath.split("/").includes("..")) refuse("devicePath", devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mountNames.has(name)) refuse("name", name, "must not already exist in volumeMounts");
    if (mountPaths.has(devicePath)) {
      refuse("devicePath", devicePath, "must not already exist as a path in volumeMounts");
    }
    if (name !== "") names.add(name);
  }
}
