import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import type { WriteContext } from "../../../../resources/model/definition.ts";
import { type Container, type EphemeralContainer, isSidecar } from "../../../types/container.ts";
import { type PodSpec, podSpecOf } from "../../../types/pod.ts";
import {
  type ContainerScope,
  checkHostPorts,
  checkRestartRules,
  validateContainerCommon,
} from "../container/container-validation.ts";
import { validateLifecycle, validateProbes } from "../container/probe-validation.ts";

/** Validates containers, initContainers and ephemeralContainers of a pod. */
export function validateAllContainers(errors: FieldError[], spec: PodSpec, path: string, scope: ContainerScope): void {
  validateMain(errors, spec.containers ?? [], `${path}.containers`, scope);
  validateInit(errors, spec, `${path}.initContainers`, scope);
  validateEphemeral(errors, spec, `${path}.ephemeralContainers`, scope);
}

function validateMain(
  errors: FieldError[],
  containers: readonly Container[],
  path: string,
  scope: ContainerScope,
): void {
  if (containers.length === 0) {
    errors.push(requiredField(path));
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    validateContainerCommon(errors, container, at, scope);
    const { name = "" } = container;
    if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    names.add(name);
    if (container.lifecycle) validateLifecycle(errors, container.lifecycle, `${at}.lifecycle`, scope);
    validateProbes(errors, container, at);
    checkRestartRules(errors, container, at);
  }
  checkHostPorts(errors, containers, path);
}

const NOT_FOR_INIT = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const;

function validateInit(errors: FieldError[], spec: PodSpec, path: string, scope: ContainerScope): void {
  const { initContainers = [], containers } = spec;
  const names = new Set((containers ?? []).map(({ name = "" }) => name));
  for (const [index, container] of initContainers.entries()) {
    const at = `${path}[${index}]`;
    validateContainerCommon(errors, container, at, scope);
    checkInitRestart(errors, container, at);
    const { name = "" } = container;
    if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    else if (name !== "") names.add(name);
    // Compat: `checkHostPortConflicts` gets one init container at a time, so the index in the path is always 0.
    checkHostPorts(errors, [container], path);
    if (isSidecar(container)) {
      if (container.lifecycle) validateLifecycle(errors, container.lifecycle, `${at}.lifecycle`, scope);
      validateProbes(errors, container, at);
      continue;
    }
    for (const member of NOT_FOR_INIT) {
      if (!container[member]) continue;
      errors.push(forbiddenField(`${at}.${member}`, "may not be set for init containers without restartPolicy=Always"));
    }
    if (!scope.options.allowsInitRestartOnResize) checkInitResize(errors, container, at);
  }
}

/** Compat: without `restartPolicy`, the `restartPolicyRules` of an init container are not validated. */
function checkInitRestart(errors: FieldError[], container: Container, path: string): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) checkRestartRules(errors, container, path);
  else if (restartPolicyRules.length > 0) {
    errors.push(requiredField(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
  }
}

function checkInitResize(errors: FieldError[], { resizePolicy = [] }: Container, path: string): void {
  for (const [index, { restartPolicy = "" }] of resizePolicy.entries()) {
    if (restartPolicy !== "RestartContainer") continue;
    const text = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    errors.push(invalidField(`${path}.resizePolicy[${index}].restartPolicy`, restartPolicy, text));
  }
}

const NOT_FOR_EPHEMERAL = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];
const NOT_SETTABLE = "cannot be set for an Ephemeral Container";

/** Rejects fields that ephemeralContainers must not have and that the client sent empty. */
export function emptyEphemeralErrors({ draft }: WriteContext): FieldError[] {
  const { ephemeralContainers = [] } = podSpecOf(draft.object);
  const fields = new Set<string>();
  for (const { path } of draft.empties) {
    const [part, list, index, member, ...more] = path;
    if (part !== "spec" || list !== "ephemeralContainers" || !NOT_FOR_EPHEMERAL.includes(String(member))) continue;
    // Compat: ResourceRequirements is not a pointer; with an empty `claims`, `limits` or `requests` it is not a zero
    // value.
    if (more.length > (member === "resources" ? 1 : 0)) continue;
    if (isSet(ephemeralContainers[Number(index)]?.[String(member)], String(member))) continue;
    fields.add(`spec.ephemeralContainers[${index}].${member}`);
  }
  return [...fields].map((field) => forbiddenField(field, NOT_SETTABLE));
}

function validateEphemeral(errors: FieldError[], spec: PodSpec, path: string, scope: ContainerScope): void {
  const { ephemeralContainers = [], containers, initContainers } = spec;
  if (ephemeralContainers.length === 0) return;
  const others = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name = "" }) => name));
  const names = new Set(others);
  for (const [index, container] of ephemeralContainers.entries()) {
    const at = `${path}[${index}]`;
    validateContainerCommon(errors, container, at, scope);
    checkImageBlanks(errors, container, at);
    const { name = "", targetContainerName = "" } = container;
    if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
    names.add(name);
    if (targetContainerName !== "" && !others.has(targetContainerName)) {
      errors.push(notFoundField(`${at}.targetContainerName`, targetContainerName));
    }
    for (const member of NOT_FOR_EPHEMERAL) {
      if (isSet(container[member], member)) errors.push(forbiddenField(`${at}.${member}`, NOT_SETTABLE));
    }
    checkEphemeralMounts(errors, container, at);
  }
}

function isSet(value: unknown, member: string): boolean {
  if (value === undefined || value === null) return false;
  // Resources are always present.
  return member !== "resources" || Object.keys(value).length > 0;
}

function checkEphemeralMounts(errors: FieldError[], { volumeMounts = [] }: EphemeralContainer, path: string): void {
  for (const [index, { subPath = "", subPathExpr = "" }] of volumeMounts.entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    if (subPath !== "") errors.push(forbiddenField(`${at}.subPath`, NOT_SETTABLE));
    if (subPathExpr !== "") errors.push(forbiddenField(`${at}.subPathExpr`, NOT_SETTABLE));
  }
}

/** Rejects spaces around `image`, which only templates may have. */
export function checkImageBlanks(
  errors: FieldError[],
  { image = "" }: Container | EphemeralContainer,
  path: string,
): void {
  if (image.trim() === image) return;
  errors.push(invalidField(`${path}.image`, image, "must not have leading or trailing whitespace"));
}
