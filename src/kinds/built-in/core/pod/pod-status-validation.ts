import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { Container } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import type {
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodStatus,
} from "../../../types/pod-status.ts";
import { labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { asGo } from "../../shared-rules/go-print.ts";
import { IMMUTABLE } from "../../shared-rules/immutable.ts";
import { hasBothFamilies, pushAddressErrors } from "../../shared-rules/ip.ts";
import { validateContainerStatuses } from "../container/container-status-validation.ts";

/** A pod before and after an update of its status. */
export interface StatusChange {
  readonly spec: PodSpec;
  readonly next: PodStatus;
  readonly previous: PodStatus;
}

/** Validates a PodStatus. Upstream: `ValidatePodStatusUpdate`. */
export function validatePodStatus(errors: FieldError[], change: StatusChange, features: FeatureGates): void {
  const { spec, next, previous } = change;
  checkConditions(errors, next.conditions ?? []);
  checkNominatedNode(errors, change);
  const { observedGeneration = 0, qosClass = "" } = next;
  if (observedGeneration < 0) {
    errors.push(invalidField("status.observedGeneration", observedGeneration, NOT_NEGATIVE_INTEGER));
  }
  if (qosClass !== (previous.qosClass ?? "")) errors.push(invalidField("status.qosClass", qosClass, IMMUTABLE));
  checkTransitions(errors, change);
  checkClaimStatuses(errors, next.resourceClaimStatuses ?? [], spec);
  if (next.extendedResourceClaimStatus) checkExtendedClaim(errors, next.extendedResourceClaimStatus, spec);
  checkAddresses(errors, change);
  validateContainerStatuses(errors, spec, next, features.enabled("ImageVolumeWithDigest"));
}

const NOT_NEGATIVE_INTEGER = "must be a non-negative integer";
const SYSTEM_CONDITIONS = new Set(["PodScheduled", "Ready", "Initialized"]);

function checkConditions(errors: FieldError[], conditions: readonly PodCondition[]): void {
  for (const [index, { type = "", observedGeneration = 0 }] of conditions.entries()) {
    const at = `status.conditions[${index}]`;
    if (observedGeneration < 0) {
      errors.push(invalidField(`${at}.observedGeneration`, observedGeneration, NOT_NEGATIVE_INTEGER));
    }
    if (!SYSTEM_CONDITIONS.has(type)) pushInvalid(errors, `${at}.Type`, type, qualifiedName(type));
  }
}

function checkNominatedNode(errors: FieldError[], { spec, next, previous }: StatusChange): void {
  const { nominatedNodeName = "" } = next;
  if (nominatedNodeName === "" || nominatedNodeName === previous.nominatedNodeName) return;
  const path = "status.nominatedNodeName";
  pushInvalid(errors, path, nominatedNodeName, subdomainName(nominatedNodeName));
  if ((spec.nodeName ?? "") === "") return;
  errors.push(forbiddenField(path, "may not be set on pods that are already bound to a node"));
}

const RESTARTED = "may not be transitioned to non-terminated state";

/** Terminated containers must stay terminated, unless restartPolicy or restartPolicyRules allow a restart. */
function checkTransitions(errors: FieldError[], { spec, next, previous }: StatusChange): void {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const allMayRestart = containers.some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
  for (const member of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    const candidates =
      member === "ephemeralContainerStatuses"
        ? []
        : ((member === "containerStatuses" ? spec.containers : spec.initContainers) ?? []);
    if (allMayRestart && member !== "ephemeralContainerStatuses") continue;
    for (const [index, old] of (previous[member] ?? []).entries()) {
      if (!old.state?.terminated) continue;
      const current = (next[member] ?? []).find(({ name, state }) => name === old.name && !state?.terminated);
      if (!current) continue;
      const container = candidates.find(({ name }) => name === old.name);
      if (container && mayRestart(container, spec, old.state.terminated.exitCode ?? 0)) continue;
      errors.push(forbiddenField(`status.${member}[${index}].state`, RESTARTED));
    }
  }
}

function mayRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) {
    const rule = restartPolicyRules.find(({ exitCodes }) => {
      const { operator, values = [] } = exitCodes ?? {};
      if (operator === "In") return values.includes(exitCode);
      return operator === "NotIn" && !values.includes(exitCode);
    });
    if (rule?.action === "Restart" || rule?.action === "RestartAllContainers") return true;
  }
  const policy = restartPolicy ?? spec.restartPolicy ?? "Always";
  return policy === "OnFailure" ? exitCode !== 0 : policy !== "Never";
}

function checkClaimStatuses(
  errors: FieldError[],
  statuses: readonly PodResourceClaimStatus[],
  { resourceClaims = [] }: PodSpec,
): void {
  const seen = new Set<string>();
  for (const [index, { name = "", resourceClaimName }] of statuses.entries()) {
    const at = `status.resourceClaimStatuses[${index}]`;
    if (!resourceClaims.some((claim) => claim.name === name)) {
      const text = "must match the name of an entry in `spec.resourceClaims`";
      errors.push(invalidField(`${at}.name`, name, text));
    }
    if (seen.has(name)) errors.push(duplicateField(`${at}.name`, name));
    seen.add(name);
    if (resourceClaimName === undefined) continue;
    pushInvalid(errors, `${at}.resourceClaimName`, resourceClaimName, subdomainName(resourceClaimName));
  }
}

function checkExtendedClaim(errors: FieldError[], status: PodExtendedResourceClaimStatus, spec: PodSpec): void {
  const path = "status.extendedResourceClaimStatus";
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((container) => [container.name ?? "", container]),
  );
  const { requestMappings = [], resourceClaimName = "" } = status;
  if ((requestMappings ?? []).length === 0) {
    errors.push(requiredField(`${path}.requestMappings`, "at least one request mapping is required"));
  }
  const seen = new Set<string>();
  for (const [index, mapping] of (requestMappings ?? []).entries()) {
    const at = `${path}.requestMappings[${index}]`;
    const { containerName = "", resourceName = "", requestName = "" } = mapping;
    const container = containers.get(containerName);
    if (!container) {
      const text = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
      errors.push(invalidField(`${at}.containerName`, containerName, text));
    } else if (getMember(container.resources?.requests ?? {}, resourceName) === undefined) {
      const text =
        "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
      errors.push(invalidField(`${at}.resourceName`, resourceName, text));
    }
    pushInvalid(errors, `${path}.requestName`, requestName, labelName(requestName));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      errors.push(duplicateField(`${at}.containerName`, containerName));
      errors.push(duplicateField(`${at}.resourceName`, resourceName));
      errors.push(duplicateField(`${at}.requestName`, requestName));
    }
    seen.add(key);
  }
  if (resourceClaimName === "") errors.push(requiredField(`${path}.resourceClaimName`));
  else pushInvalid(errors, `${path}.resourceClaimName`, resourceClaimName, subdomainName(resourceClaimName));
}

function checkAddresses(errors: FieldError[], { next, previous }: StatusChange): void {
  const { podIP = "", podIPs = [], hostIP = "", hostIPs = [] } = next;
  checkFamilies(errors, "status.podIPs", ipsOf(podIPs), ipsOf(previous.podIPs ?? []));
  const shown = asGo(podIPs, [["IP", "ip", ""]]);
  if ((podIP === "") !== (podIPs.length === 0)) {
    errors.push(invalidField("status.podIPs", shown, "podIP and podIPs must either both be set or both be unset"));
  } else if (podIPs.length > 0 && podIP !== (podIPs[0]?.ip ?? "")) {
    errors.push(invalidField("status.podIPs[0].ip", podIPs[0]?.ip ?? "", "must be equal to `podIP`"));
  }
  const [first] = hostIPs;
  if (!first) return;
  if (hostIP !== (first.ip ?? "")) {
    errors.push(invalidField("status.hostIPs[0].ip", first.ip ?? "", "must be equal to `hostIP`"));
  }
  checkFamilies(errors, "status.hostIPs", ipsOf(hostIPs), ipsOf(previous.hostIPs ?? []));
}

const ipsOf = (list: readonly { readonly ip?: string }[]): string[] => list.map(({ ip = "" }) => ip);

function checkFamilies(errors: FieldError[], path: string, addresses: string[], stored: string[]): void {
  const accepted = new Set(stored);
  for (const [index, address] of addresses.entries()) {
    pushAddressErrors(errors, `${path}[${index}]`, address, accepted);
  }
  if (addresses.length < 2) return;
  const both = hasBothFamilies(addresses);
  if (both === undefined) {
    const wrong = addresses.findIndex((address) => hasBothFamilies([address]) === undefined);
    const text = `failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong] ?? ""}`;
    errors.push({ type: "InternalError", field: path, message: `Internal error: ${text}` });
  }
  if (both && addresses.length === 2) return;
  const shown = addresses.map((ip) => ({ IP: ip }));
  errors.push(invalidField(path, shown, "may specify no more than one IP for each IP family"));
}
