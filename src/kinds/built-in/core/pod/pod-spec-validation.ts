import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../../base/api/names.ts";
import { isObject, type Json, type ObjectMeta } from "../../../../base/api/object.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { validateLabels } from "../../../../resources/write/metadata-validation.ts";
import type { PodResourceClaim, PodSpec } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import {
  inRange,
  labelName,
  pushInvalid,
  subdomainName,
  subdomainWithUnderscores,
} from "../../shared-rules/formats.ts";
import { asGo } from "../../shared-rules/go-print.ts";
import { pushAddressErrors } from "../../shared-rules/ip.ts";
import { pushAnnotationErrors } from "../../shared-rules/metadata.ts";
import type { ContainerScope } from "../container/container-validation.ts";
import { validateResources } from "../container/resource-validation.ts";
import { validatePodSecurityContext } from "../container/security-context-validation.ts";
import { validateHostProcess, validateLinuxPod, validateWindowsPod } from "../container/windows-options-validation.ts";
import { validateVolumes } from "../volume/volume-validation.ts";
import { validateAffinity } from "./affinity-validation.ts";
import { MIRROR_POD, validatePodAnnotations, validateProfilesMatch } from "./pod-annotation-validation.ts";
import { validateAllContainers } from "./pod-containers-validation.ts";
import { validatePodLevelResources } from "./pod-level-resources.ts";
import type { PodOptions } from "./pod-options.ts";
import { podOptions } from "./pod-validation-options.ts";
import {
  validateSchedulingGates,
  validateSchedulingGroup,
  validateSpread,
  validateTolerations,
} from "./scheduling-validation.ts";

/** Validates the PodTemplateSpec of a workload at `path`; `previous` is the stored one. */
export function validatePodTemplate(
  template: Json | undefined,
  path: string,
  features: FeatureGates,
  previous?: Json,
): FieldError[] {
  const { metadata, spec } = templateParts(template);
  const old = previous === undefined ? undefined : templateParts(previous);
  const options = podOptions(features, false, old?.spec, old?.metadata);
  const errors = validateLabels(metadata.labels ?? {}, `${path}.labels`);
  pushAnnotationErrors(errors, `${path}.annotations`, metadata.annotations);
  validatePodAnnotations(errors, metadata.annotations ?? {}, spec, { path: `${path}.annotations`, options });
  validatePodSpec(errors, spec, `${path}.spec`, { options });
  validateProfilesMatch(errors, metadata, spec, `${path}.spec`);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
  return errors;
}

function templateParts(template: Json | undefined): { metadata: ObjectMeta; spec: PodSpec } {
  const { metadata, spec } = isObject(template) ? template : {};
  return { metadata: isObject(metadata) ? metadata : {}, spec: isObject(spec) ? spec : {} };
}

/** Context of validating a PodSpec. */
export interface SpecScope {
  readonly options: PodOptions;
  /** Metadata of the pod; undefined for templates. */
  readonly metadata?: ObjectMeta;
}

/** Validates a PodSpec. Upstream: `ValidatePodSpec`. */
export function validatePodSpec(errors: FieldError[], spec: PodSpec, path: string, scope: SpecScope): void {
  const { options, metadata } = scope;
  if (spec.terminationGracePeriodSeconds === undefined) {
    errors.push(requiredField(`${path}.terminationGracePeriodSeconds`));
  }
  const podName = metadata?.name ?? "";
  const volumes = validateVolumes(errors, spec.volumes ?? [], `${path}.volumes`, { options, podName });
  const claims = spec.resourceClaims ?? [];
  checkResourceClaims(errors, claims, `${path}.resourceClaims`, metadata);
  const containers: ContainerScope = {
    options,
    volumes,
    claimNames: new Set(claims.flatMap(({ name = "" }) => (name === "" ? [] : [name]))),
    restartPolicy: spec.restartPolicy ?? "",
    os: spec.os ? (spec.os.name ?? "") : undefined,
    gracePeriodSeconds: spec.terminationGracePeriodSeconds,
    hostUsers: spec.hostUsers !== false,
  };
  validateAllContainers(errors, spec, path, containers);
  if (spec.resources) validatePodLevelResources(errors, spec, path, containers);
  checkHostNetworkPorts(errors, spec, `${path}.containers`, options);
  checkOneOf(errors, spec.restartPolicy ?? "", `${path}.restartPolicy`, RESTART_POLICIES);
  checkOneOf(errors, spec.dnsPolicy ?? "", `${path}.dnsPolicy`, DNS_POLICIES);
  if (spec.nodeSelector) addAll(errors, validateLabels(spec.nodeSelector, `${path}.nodeSelector`));
  validatePodSecurityContext(errors, spec, `${path}.securityContext`, options);
  if (spec.shareProcessNamespace && spec.hostPID) {
    const text = "ShareProcessNamespace and HostPID cannot both be enabled";
    errors.push(invalidField(`${path}.shareProcessNamespace`, true, text));
  }
  if (spec.affinity) validateAffinity(errors, spec.affinity, `${path}.affinity`, options);
  checkDns(errors, spec, `${path}.dnsConfig`);
  checkScheduling(errors, spec, path, options);
  validateHostProcess(errors, spec, path);
  if (spec.hostUsers === false) checkOwnUsers(errors, spec, path, options);
  checkHostname(errors, spec, path);
  checkNames(errors, spec, path, options);
  checkOperatingSystem(errors, spec, path);
  checkGroup(errors, spec, path);
  checkFileReferences(errors, spec, path);
}

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];

function checkOneOf(errors: FieldError[], value: string, path: string, allowed: readonly string[]): void {
  if (value === "") errors.push(requiredField(path));
  else if (!allowed.includes(value)) errors.push(notSupportedField(path, value, allowed));
}

function checkResourceClaims(
  errors: FieldError[],
  claims: readonly PodResourceClaim[],
  path: string,
  metadata: ObjectMeta | undefined,
): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (metadata?.annotations?.[MIRROR_POD] !== undefined) {
      errors.push(forbiddenField("", "static pods do not support resource claims"));
      continue;
    }
    const at = `${path}[${index}]`;
    const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
    if (name === "") errors.push(requiredField(`${at}.name`));
    else if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    else pushInvalid(errors, `${at}.name`, name, labelName(name));
    names.add(name);
    const shown = () =>
      asGo(claim, [
        ["Name", "name", ""],
        ["ResourceClaimName", "resourceClaimName"],
        ["ResourceClaimTemplateName", "resourceClaimTemplateName"],
      ]);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.push(invalidField(at, shown(), text));
    } else if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      errors.push(invalidField(at, shown(), text));
    }
    for (const member of ["resourceClaimName", "resourceClaimTemplateName"] as const) {
      const reference = claim[member];
      if (reference !== undefined) pushInvalid(errors, `${at}.${member}`, reference, subdomainName(reference));
    }
  }
}

function checkHostNetworkPorts(errors: FieldError[], spec: PodSpec, path: string, { isPod }: PodOptions): void {
  if (!spec.hostNetwork) return;
  for (const [index, { ports = [] }] of (spec.containers ?? []).entries()) {
    for (const [portIndex, { hostPort = 0, containerPort = 0 }] of ports.entries()) {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue;
      const text = "must match `containerPort` when `hostNetwork` is true";
      errors.push(invalidField(`${path}[${index}].ports[${portIndex}].hostPort`, hostPort, text));
    }
  }
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

function checkDns(errors: FieldError[], { dnsPolicy, dnsConfig }: PodSpec, path: string): void {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None" && !dnsConfig) {
    errors.push(requiredField(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
    return;
  }
  if (dnsPolicy === "None" && nameservers.length === 0) {
    const text = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    errors.push(requiredField(`${path}.nameservers`, text));
    return;
  }
  if (nameservers.length > MAX_NAMESERVERS) {
    const text = `must not have more than ${MAX_NAMESERVERS} nameservers`;
    errors.push(invalidField(`${path}.nameservers`, nameservers, text));
  }
  for (const [index, address] of nameservers.entries()) {
    pushAddressErrors(errors, `${path}.nameservers[${index}]`, address);
  }
  if (searches.length > MAX_SEARCHES) {
    const text = `must not have more than ${MAX_SEARCHES} search paths`;
    errors.push(invalidField(`${path}.searches`, searches, text));
  }
  if (byteLength(searches.join(" ")) > MAX_SEARCH_CHARACTERS) {
    const text = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(invalidField(`${path}.searches`, searches, text));
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const domain = search.replace(/\.$/, "");
    pushInvalid(errors, `${path}.searches[${index}]`, domain, subdomainWithUnderscores(domain));
  }
  for (const [index, { name = "" }] of options.entries()) {
    if (name === "") errors.push(requiredField(`${path}.options[${index}]`, "must not be empty"));
  }
}

function checkScheduling(errors: FieldError[], spec: PodSpec, path: string, options: PodOptions): void {
  for (const [index, { conditionType = "" }] of (spec.readinessGates ?? []).entries()) {
    pushInvalid(errors, `${path}.readinessGates[${index}].conditionType`, conditionType, qualifiedName(conditionType));
  }
  validateSchedulingGates(errors, spec.schedulingGates ?? [], `${path}.schedulingGates`);
  const spread = spec.topologySpreadConstraints ?? [];
  validateSpread(errors, spread, `${path}.topologySpreadConstraints`, options);
}

/** Validates pods with hostUsers false (user namespaces). */
function checkOwnUsers(errors: FieldError[], spec: PodSpec, path: string, options: PodOptions): void {
  const text = "when `hostUsers` is false";
  if (spec.hostNetwork && !options.allowsHostNetworkOfOwnUsers) {
    errors.push(forbiddenField(`${path}.hostNetwork`, text));
  }
  if (spec.hostPID) errors.push(forbiddenField(`${path}.HostPID`, text));
  if (spec.hostIPC) errors.push(forbiddenField(`${path}.HostIPC`, text));
  if (options.allowsDevicesOfOwnUsers) return;
  for (const { container, at } of containersWithPaths(spec, path)) {
    if ((container.volumeDevices ?? []).length > 0) errors.push(forbiddenField(`${at}.volumeDevices`, text));
  }
}

const MAX_HOSTNAME = 64;

function checkHostname(errors: FieldError[], spec: PodSpec, path: string): void {
  const { hostnameOverride: name } = spec;
  if (name === undefined) return;
  const at = `${path}.hostnameOverride`;
  if (spec.setHostnameAsFQDN) errors.push(forbiddenField(at, "may not be specified when setHostnameAsFQDN is true"));
  if (spec.hostNetwork) errors.push(forbiddenField(at, "may not be specified when hostNetwork is true"));
  if (byteLength(name) > MAX_HOSTNAME) errors.push(tooLongField(at, MAX_HOSTNAME));
  pushInvalid(errors, at, name, subdomainName(name));
}

const MAX_DEADLINE = 2 ** 31 - 1;

function checkNames(errors: FieldError[], spec: PodSpec, path: string, options: PodOptions): void {
  const check = (member: "serviceAccountName" | "nodeName" | "priorityClassName" | "hostname" | "subdomain") => {
    const name = spec[member] ?? "";
    const rule = member === "hostname" || member === "subdomain" ? labelName : subdomainName;
    if (name !== "") pushInvalid(errors, `${path}.${member}`, name, rule(name));
  };
  check("serviceAccountName");
  check("nodeName");
  const { activeDeadlineSeconds: deadline, runtimeClassName, preemptionPolicy } = spec;
  if (deadline !== undefined) {
    pushInvalid(errors, `${path}.activeDeadlineSeconds`, deadline, inRange(deadline, 1, MAX_DEADLINE));
  }
  check("hostname");
  check("subdomain");
  validateTolerations(errors, spec.tolerations ?? [], `${path}.tolerations`, options);
  for (const [index, { ip = "", hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    const at = `${path}.hostAliases[${index}]`;
    pushAddressErrors(errors, `${at}.ip`, ip);
    for (const [nameIndex, name] of hostnames.entries()) {
      pushInvalid(errors, `${at}.hostnames[${nameIndex}]`, name, subdomainName(name));
    }
  }
  check("priorityClassName");
  if (runtimeClassName !== undefined) {
    pushInvalid(errors, `${path}.runtimeClassName`, runtimeClassName, subdomainName(runtimeClassName));
  }
  if (preemptionPolicy !== undefined) {
    checkOneOf(errors, preemptionPolicy, `${path}.preemptionPolicy`, PREEMPTION_POLICIES);
  }
  if (spec.overhead) {
    validateResources(errors, { limits: spec.overhead }, `${path}.overhead`, { options, claimNames: new Set() });
  }
}

function checkOperatingSystem(errors: FieldError[], spec: PodSpec, path: string): void {
  if (!spec.os) return;
  const { name = "" } = spec.os;
  if (name === "") errors.push(requiredField(`${path}.os.name`));
  else if (name === "linux") validateLinuxPod(errors, spec, path);
  else if (name === "windows") validateWindowsPod(errors, spec, path);
  else errors.push(notSupportedField(`${path}.os`, name, ["linux", "windows"]));
}

function checkGroup(errors: FieldError[], spec: PodSpec, path: string): void {
  if (!spec.schedulingGroup) return;
  validateSchedulingGroup(errors, spec.schedulingGroup, `${path}.schedulingGroup`);
  if ((spec.evictionResponders ?? []).length === 0) return;
  errors.push(forbiddenField(`${path}.schedulingGroup`, "may not be set when evictionResponders is set"));
}

/** Validates that fileKeyRef refers to an emptyDir volume. */
function checkFileReferences(errors: FieldError[], spec: PodSpec, path: string): void {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name ?? "", volume]));
  for (const { container, at } of containersWithPaths(spec, path)) {
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName = "" } = valueFrom.fileKeyRef;
      const field = `${at}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const volume = volumes.get(volumeName);
      if (!volume) errors.push(notFoundField(field, volumeName));
      else if (!volume.emptyDir) {
        errors.push(invalidField(field, volumeName, "referenced volume must be of type emptyDir"));
      }
    }
  }
}
