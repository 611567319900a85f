import { type FieldError, forbiddenField, invalidField } from "../../../../base/api/field-error.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { getMember } from "../../../../base/util/members.ts";
import { type Container, isSidecar, type ResourceRequirements } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import type { PodSpec } from "../../../types/pod.ts";
import type { PodStatus } from "../../../types/pod-status.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { qosClassOf } from "./pod-qos.ts";

const ONLY_CPU_AND_MEMORY = "only cpu and memory resources are mutable";

/** Validates pods/resize: only cpu and memory of resources, and resizePolicy's rules. Upstream: `ValidatePodResize`. */
export function validatePodResize(errors: FieldError[], next: PodSpec, previous: PodSpec, status: PodStatus): void {
  if ((status.qosClass ?? qosClassOf(previous)) !== qosClassOf(next)) {
    const text = "Pod QOS Class may not change as a result of resizing";
    errors.push(invalidField("spec", status.qosClass ?? "", text));
  }
  const running = (status.containerStatuses ?? []).find(({ state }) => state?.running);
  if (running && !running.resources) {
    errors.push(forbiddenField("spec", "Pod running on node without support for resize"));
  }
  const rest = cloneJson(next);
  if (hasAmounts(previous.resources) || hasAmounts(next.resources)) checkPodLevel(errors, rest, next, previous);
  if (!checkOrder(errors, next, previous)) return;
  for (const member of ["initContainers", "containers"] as const) {
    for (const [index, old] of (previous[member] ?? []).entries()) {
      const wanted = next[member]?.[index]?.resources;
      checkNothingRemoved(errors, wanted, old.resources, {
        path: `spec.${member}[${index}].resources`,
        what: "resource",
      });
    }
  }
  for (const [index, container] of (rest.containers ?? []).entries()) {
    const old = previous.containers?.[index] ?? {};
    container.resources = withoutCpuAndMemory(container.resources, old.resources);
    if (!sameValue(container, old)) errors.push(forbiddenField("spec", ONLY_CPU_AND_MEMORY));
  }
  for (const [index, container] of (rest.initContainers ?? []).entries()) {
    checkInit(errors, container, previous.initContainers?.[index] ?? {}, `spec.initContainers[${index}]`);
  }
  if (!sameValue(next.volumes, previous.volumes)) {
    const text =
      "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled";
    errors.push(forbiddenField("spec.volumes", text));
  }
  if (errors.length === 0 && !sameValue(rest, previous)) errors.push(forbiddenField("spec", ONLY_CPU_AND_MEMORY));
}

function hasAmounts(resources: ResourceRequirements | undefined): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0;
}

function checkPodLevel(errors: FieldError[], rest: PodSpec, next: PodSpec, previous: PodSpec): void {
  if (previous.resources && !next.resources) {
    errors.push(forbiddenField("spec.resources", "pod-level resources cannot be removed"));
    return;
  }
  const path = "spec.resources";
  checkNothingRemoved(errors, next.resources, previous.resources, { path, what: "pod-level resource" });
  const resources = withoutCpuAndMemory(rest.resources, previous.resources);
  if (!previous.resources && !hasAmounts(resources) && (resources?.claims ?? []).length === 0) delete rest.resources;
  else if (resources) rest.resources = resources;
  if (sameValue(rest.resources, previous.resources)) return;
  errors.push(forbiddenField("spec", "only cpu and memory resources are mutable at pod-level"));
}

function checkOrder(errors: FieldError[], next: PodSpec, previous: PodSpec): boolean {
  const before = errors.length;
  for (const member of ["containers", "initContainers"] as const) {
    const old = previous[member] ?? [];
    const wanted = next[member] ?? [];
    if (wanted.length !== old.length) {
      errors.push(forbiddenField(`spec.${member}`, `${member} may not be added or removed on resize`));
      continue;
    }
    for (const [index, { name }] of old.entries()) {
      if (wanted[index]?.name === name) continue;
      const text = `${member} may not be renamed or reordered on resize`;
      errors.push(forbiddenField(`spec.${member}[${index}].name`, text));
    }
  }
  return errors.length === before;
}

function checkNothingRemoved(
  errors: FieldError[],
  next: ResourceRequirements | undefined,
  previous: ResourceRequirements | undefined,
  { path, what }: { readonly path: string; readonly what: string },
): void {
  for (const side of ["requests", "limits"] as const) {
    const kept = next?.[side] ?? {};
    const isKept = Object.keys(previous?.[side] ?? {}).every((name) => getMember(kept, name) !== undefined);
    if (!isKept) errors.push(forbiddenField(`${path}.${side}`, `${what} ${side} cannot be removed`));
  }
}

function checkInit(errors: FieldError[], container: Container, previous: Container, path: string): void {
  const isModified = !sameValue(container, previous);
  container.resources = withoutCpuAndMemory(container.resources, previous.resources);
  if (!sameValue(container, previous)) {
    const text = "only cpu and memory resources for init or sidecar containers are mutable";
    errors.push(forbiddenField(path, text));
  }
  if (!isModified || isSidecar(container)) return;
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy !== "RestartContainer") continue;
    const text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
    errors.push(forbiddenField(path, text));
  }
}

/** The ResourceRequirements with the previous cpu and memory. */
function withoutCpuAndMemory(
  next: ResourceRequirements | undefined,
  previous: ResourceRequirements | undefined,
): ResourceRequirements {
  const restore = (side: "limits" | "requests"): Texts => {
    const { cpu: _cpu, memory: _memory, ...rest } = next?.[side] ?? {};
    for (const name of ["cpu", "memory"]) {
      const amount = getMember(previous?.[side] ?? {}, name);
      if (amount !== undefined) rest[name] = amount;
    }
    return rest;
  };
  const { limits: _limits, requests: _requests, ...rest } = next ?? {};
  const [limits, requests] = [restore("limits"), restore("requests")];
  return {
    ...rest,
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
}
