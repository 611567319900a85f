import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { Container } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import type {
  ContainerStatus,
  PodStatus,
  ResourceHealth,
  ResourceStatus,
  VolumeMountStatus,
} from "../../../types/pod-status.ts";
import { accountNumber, inRange, pushInvalid } from "../../shared-rules/formats.ts";

const MAX_USER = 2 ** 32 - 1;
const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const MAX_MESSAGE = 1024;
const CLAIM = "claim:";

/** Validates the ContainerStatuses of a pod. */
export function validateContainerStatuses(
  errors: FieldError[],
  spec: PodSpec,
  status: PodStatus,
  checksVolumeStatus: boolean,
): void {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const os = spec.os?.name ?? "linux";
  checkUsers(errors, containerStatuses, "status.containerStatuses", os);
  checkUsers(errors, initContainerStatuses, "status.initContainerStatuses", os);
  checkUsers(errors, ephemeralContainerStatuses, "status.ephemeralContainerStatuses", os);
  checkDevices(errors, containerStatuses, "status.containerStatuses", { containers: spec.containers ?? [], status });
  const containers = spec.initContainers ?? [];
  checkDevices(errors, initContainerStatuses, "status.initContainerStatuses", { containers, status });
  for (const [index, { allocatedResourcesStatus = [] }] of ephemeralContainerStatuses.entries()) {
    if (allocatedResourcesStatus.length === 0) continue;
    const at = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`;
    errors.push(forbiddenField(at, "must not be specified in container status"));
  }
  if (!checksVolumeStatus) return;
  for (const member of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    for (const [index, { volumeMounts = [] }] of (status[member] ?? []).entries()) {
      checkVolumeStatuses(errors, volumeMounts, `status.${member}[${index}].volumeMounts`);
    }
  }
}

const MAX_IMAGE_REF = 256;

/** Upstream: `validateVolumeStatus`. Compat: the path has `imageVolumeStatus` although the field is `image`. */
function checkVolumeStatuses(errors: FieldError[], mounts: readonly VolumeMountStatus[], path: string): void {
  for (const [index, { volumeStatus }] of mounts.entries()) {
    if (!volumeStatus?.image) continue;
    const { imageRef = "" } = volumeStatus.image;
    const at = `${path}[${index}].volumeStatus.imageVolumeStatus.imageRef`;
    if (imageRef === "") errors.push(requiredField(at, "imageRef must not be empty"));
    if (byteLength(imageRef) > MAX_IMAGE_REF) errors.push(tooLongField(at, MAX_IMAGE_REF));
  }
}

function checkUsers(errors: FieldError[], statuses: readonly ContainerStatus[], path: string, os: string): void {
  for (const [index, { user }] of statuses.entries()) {
    const linux = user?.linux;
    if (!linux) continue;
    const at = `${path}[${index}].user.linux`;
    if (os === "windows") errors.push(forbiddenField(at, "cannot be set for a windows pod"));
    if (os !== "linux") continue;
    const { uid = 0, gid = 0, supplementalGroups = [] } = linux;
    pushInvalid(errors, `${at}.uid`, uid, inRange(uid, 0, MAX_USER));
    pushInvalid(errors, `${at}.gid`, gid, accountNumber(gid));
    for (const [groupIndex, group] of supplementalGroups.entries()) {
      pushInvalid(errors, `${at}.supplementalGroups[${groupIndex}]`, group, accountNumber(group));
    }
  }
}

interface DeviceScope {
  readonly containers: readonly Container[];
  readonly status: PodStatus;
}

function checkDevices(
  errors: FieldError[],
  statuses: readonly ContainerStatus[],
  path: string,
  { containers, status }: DeviceScope,
): void {
  for (const [index, { name = "", allocatedResourcesStatus = [] }] of statuses.entries()) {
    const container = containers.find((one) => one.name === name);
    for (const [resourceIndex, resource] of allocatedResourcesStatus.entries()) {
      const at = `${path}[${index}].allocatedResourcesStatus[${resourceIndex}]`;
      if (container) checkResourceName(errors, resource, container, { path: `${at}.name`, status });
      checkHealth(errors, resource.resources ?? [], `${at}.resources`);
    }
  }
}

const NO_CLAIM =
  "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty";

function checkResourceName(
  errors: FieldError[],
  { name = "" }: ResourceStatus,
  container: Container,
  { path, status }: { readonly path: string; readonly status: PodStatus },
): void {
  const { claims = [], requests = {} } = container.resources ?? {};
  if (!name.startsWith(CLAIM)) {
    if (getMember(requests, name) !== undefined) return;
    errors.push(invalidField(path, name, "must match one of the container's resource requests"));
    return;
  }
  const isOwn = claims.some(({ name: claim = "", request = "" }) => {
    return name === `${CLAIM}${claim}${request === "" ? "" : `/${request}`}`;
  });
  if (!isOwn && !isExtended(name, container, status)) errors.push(invalidField(path, name, NO_CLAIM));
}

function isExtended(name: string, container: Container, { extendedResourceClaimStatus }: PodStatus): boolean {
  const [claim = "", ...rest] = name.slice(CLAIM.length).split("/");
  const request = rest.join("/");
  if (!extendedResourceClaimStatus || request === "" || claim === "") return false;
  const { resourceClaimName, requestMappings } = extendedResourceClaimStatus;
  if (claim !== resourceClaimName) return false;
  return (requestMappings ?? []).some(({ containerName, requestName, resourceName = "" }) => {
    const amount = getMember(container.resources?.requests ?? {}, resourceName) ?? "0";
    return containerName === container.name && requestName === request && parseQuantity(amount).mantissa !== 0n;
  });
}

function checkHealth(errors: FieldError[], resources: readonly ResourceHealth[], path: string): void {
  const seen = new Set<string>();
  for (const [index, { resourceID = "", health = "", message }] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (!HEALTH.includes(health)) errors.push(notSupportedField(`${at}.health`, health, HEALTH));
    if (message === "") errors.push(requiredField(`${at}.message`, "must be non-empty if specified"));
    else if (message !== undefined && byteLength(message) > MAX_MESSAGE) {
      errors.push(tooLongField(`${at}.message`, MAX_MESSAGE));
    }
    if (seen.has(resourceID)) errors.push(duplicateField(`${at}.resourceID`, resourceID));
    seen.add(resourceID);
  }
}
