import { type FieldError, forbiddenField } from "../../../../base/api/field-error.ts";
import { dns1123Label } from "../../../../base/api/names.ts";
import type { KubeObject, ObjectMeta } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { ResourceHooks, WriteContext } from "../../../../resources/model/definition.ts";
import type { Container, EphemeralContainer } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import { type PodSpec, podSpecOf } from "../../../types/pod.ts";
import { type PodStatus, podStatusOf } from "../../../types/pod-status.ts";
import { isSentEmpty } from "../../shared-rules/empties.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { addressWarnings } from "../../shared-rules/ip.ts";
import { nonNegative } from "../../shared-rules/numbers.ts";
import { printDifferences } from "../../shared-rules/print-differences.ts";
import {
  MIRROR_POD,
  validateAnnotationUpdate,
  validatePodAnnotations,
  validateProfilesMatch,
} from "./pod-annotation-validation.ts";
import { checkImageBlanks, emptyEphemeralErrors } from "./pod-containers-validation.ts";
import { prepareNewPod } from "./pod-create.ts";
import { setPodDefaults } from "./pod-defaults.ts";
import { dropDisabledFields, dropDisabledStatus } from "./pod-disabled-fields.ts";
import { podGracePeriodSeconds } from "./pod-grace-period.ts";
import { podClaimsError, setPodLevelDefaults } from "./pod-level-resources.ts";
import type { PodOptions } from "./pod-options.ts";
import { validatePodResize } from "./pod-resize-validation.ts";
import { validatePodSpec } from "./pod-spec-validation.ts";
import { validatePodStatus } from "./pod-status-validation.ts";
import { validatePodSpecUpdate } from "./pod-update-validation.ts";
import { podOptions } from "./pod-validation-options.ts";
import { podWarnings } from "./pod-warnings.ts";

const annotationsOf = ({ annotations }: ObjectMeta): Texts => annotations ?? {};

function prepare(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void {
  const { subresource, draft, features } = context;
  const spec = podSpecOf(next);
  if (!previous) {
    addAll(draft.warnings, prepareNewPod(next, spec, features));
    return;
  }
  if (subresource === "binding") return;
  const old = podSpecOf(previous);
  if (subresource === "status") {
    const status = podStatusOf(next);
    keepReported(status, podStatusOf(previous));
    dropDisabledStatus(status, podStatusOf(previous), features);
    next.status = status;
    return;
  }
  if (subresource === "resize") keepUnresized(spec, old);
  if (subresource !== "ephemeralcontainers" && !spec.resources && old.resources) {
    spec.resources = cloneJson(old.resources);
  }
  if (subresource === "resize") setPodLevelDefaults(spec);
  dropDisabledFields(spec, next.metadata.annotations, old, features);
}

const KEPT_WHEN_OMITTED = [
  "qosClass",
  "resourceClaimStatuses",
  "extendedResourceClaimStatus",
  "nodeAllocatableResourceClaimStatuses",
  "observedGeneration",
] as const;

/** Keeps fields that a status update omits because its client does not know them. */
function keepReported(next: PodStatus, previous: PodStatus): void {
  for (const member of KEPT_WHEN_OMITTED) {
    if (next[member] === undefined && previous[member] !== undefined) {
      Object.assign(next, { [member]: cloneJson(previous[member]) });
    }
  }
  const generations = new Map<string, number[]>();
  for (const { type = "", observedGeneration = 0 } of previous.conditions ?? []) {
    generations.set(type, [...(generations.get(type) ?? []), observedGeneration]);
  }
  for (const condition of next.conditions ?? []) {
    const generation = generations.get(condition.type ?? "")?.shift() ?? 0;
    if (condition.observedGeneration === undefined && generation !== 0) condition.observedGeneration = generation;
  }
}

/** pods/resize only changes resources; mismatched containers are left for validation to reject. */
function keepUnresized(next: PodSpec, previous: PodSpec): void {
  const { containers, initContainers, resources } = next;
  if ((containers ?? []).length !== (previous.containers ?? []).length) return;
  if ((initContainers ?? []).length !== (previous.initContainers ?? []).length) return;
  for (const member of Object.keys(next)) delete next[member];
  Object.assign(next, cloneJson(previous));
  next.containers = resized(containers ?? [], previous.containers ?? []);
  if (initContainers) next.initContainers = resized(initContainers, previous.initContainers ?? []);
  if (resources) next.resources = resources;
  else delete next.resources;
}

function resized(next: Container[], previous: readonly Container[]): Container[] {
  if (next.some(({ name }, index) => name !== previous[index]?.name)) return next;
  return next.map(({ resources, resizePolicy }, index) => {
    const { resources: _resources, resizePolicy: _policy, ...rest } = cloneJson(previous[index] ?? {});
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

function validate(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): FieldError[] {
  const { subresource, features } = context;
  if (subresource === "binding") return [];
  const errors: FieldError[] = [];
  const options = podOptions(features, true, previous && podSpecOf(previous), previous?.metadata);
  if (!previous) {
    validateWhole(errors, next, options);
    if (isSentEmpty(context, "spec.resources.claims")) errors.push(podClaimsError("spec.resources"));
    addAll(errors, emptyEphemeralErrors(context));
    checkNew(errors, next);
  } else if (subresource === "status") {
    checkAnnotations(errors, next, previous, options);
    const change = { spec: podSpecOf(next), next: podStatusOf(next), previous: podStatusOf(previous) };
    validatePodStatus(errors, change, features);
  } else if (subresource === "ephemeralcontainers") {
    if (isMirror(previous)) return [forbiddenField("", "static pods do not support ephemeral containers")];
    validateWhole(errors, next, options);
    checkAnnotations(errors, next, previous, options);
    checkEphemeral(errors, podSpecOf(next).ephemeralContainers ?? [], podSpecOf(previous).ephemeralContainers ?? []);
  } else if (subresource === "resize") {
    if (isMirror(previous)) return [forbiddenField("", "static pods cannot be resized")];
    if (podSpecOf(previous).os?.name === "windows") return [forbiddenField("", "windows pods cannot be resized")];
    validateWhole(errors, next, options);
    validatePodResize(errors, podSpecOf(next), podSpecOf(previous), podStatusOf(previous));
  } else {
    validateWhole(errors, next, options);
    checkAnnotations(errors, next, previous, options);
    validatePodSpecUpdate(errors, podSpecOf(next), podSpecOf(previous), options);
  }
  return errors;
}

const isMirror = ({ metadata }: KubeObject): boolean => annotationsOf(metadata)[MIRROR_POD] !== undefined;

function validateWhole(errors: FieldError[], pod: KubeObject, options: PodOptions): void {
  const { metadata } = pod;
  const spec = podSpecOf(pod);
  validatePodAnnotations(errors, annotationsOf(metadata), spec, { path: "metadata.annotations", options });
  validatePodSpec(errors, spec, "spec", { options, metadata });
  if ((spec.serviceAccountName ?? "") === "") checkNoTokens(errors, spec);
  addAll(errors, nonNegative(spec.terminationGracePeriodSeconds, "spec.terminationGracePeriodSeconds"));
  for (const member of ["containers", "initContainers"] as const) {
    for (const [index, container] of (spec[member] ?? []).entries()) {
      checkImageBlanks(errors, container, `spec.${member}[${index}]`);
    }
  }
}

function checkNoTokens(errors: FieldError[], { volumes = [] }: PodSpec): void {
  for (const [index, { projected }] of volumes.entries()) {
    for (const [sourceIndex, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const at = `spec.volumes[${index}].projected.sources[${sourceIndex}].serviceAccountToken`;
      errors.push(forbiddenField(at, "must not be specified when serviceAccountName is not set"));
    }
  }
}

function checkNew(errors: FieldError[], pod: KubeObject): void {
  const spec = podSpecOf(pod);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  }
  if ((spec.nodeName ?? "") !== "" && (spec.schedulingGates ?? []).length > 0) {
    errors.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  validateProfilesMatch(errors, pod.metadata, spec, "spec");
}

function checkAnnotations(errors: FieldError[], next: KubeObject, previous: KubeObject, options: PodOptions): void {
  const annotations = annotationsOf(next.metadata);
  const path = "metadata.annotations";
  validateAnnotationUpdate(errors, annotations, annotationsOf(previous.metadata), path);
  validatePodAnnotations(errors, annotations, podSpecOf(next), { path, options });
}

function checkEphemeral(
  errors: FieldError[],
  next: readonly EphemeralContainer[],
  previous: readonly EphemeralContainer[],
): void {
  const path = "spec.ephemeralContainers";
  for (const old of previous) {
    const name = quote(old.name ?? "");
    const current = next.findLast((container) => container.name === old.name);
    if (!current) {
      errors.push(forbiddenField(path, `existing ephemeral containers ${name} may not be removed\n`));
    } else if (!sameValue(old, current)) {
      const text = `existing ephemeral containers ${name} may not be changed\n${printDifferences(old, current)}`;
      errors.push(forbiddenField(path, text));
    }
  }
}

function warn(next: KubeObject, previous: KubeObject | undefined, { subresource }: WriteContext): string[] {
  if (!previous) {
    const texts = dns1123Label(next.metadata.name ?? "", "characters");
    const label =
      texts.length === 0
        ? []
        : [
            `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${texts.join(" ")}]`,
          ];
    return [...label, ...podWarnings(podSpecOf(next), next.metadata)];
  }
  if (subresource !== "status") return [];
  const { podIPs = [], hostIPs = [] } = podStatusOf(next);
  return [
    ...podIPs.flatMap(({ ip = "" }, index) => addressWarnings(`status.podIPs[${index}].ip`, ip)),
    ...hostIPs.flatMap(({ ip = "" }, index) => addressWarnings(`status.hostIPs[${index}].ip`, ip)),
  ];
}

/** Pod: defaults, validation, and the subresources binding, eviction, resize and ephemeralcontainers. */
export const podHooks: ResourceHooks = {
  setDefaults: setPodDefaults,
  prepare,
  validate,
  warn,
  gracePeriodSeconds: podGracePeriodSeconds,
};
