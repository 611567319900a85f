import { isDeepStrictEqual } from "node:util";
import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { dns1123Label } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject, type ObjectMeta } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks, WriteContext } from "../../../resources/model/definition.ts";
import type { Texts } from "../../types/meta.ts";
import {
  isChanged,
  isUsable,
  memberOf,
  type PodTemplate,
  prepareTemplate,
  validateTemplateLabels,
  warnOfName,
} from "../apps/workload.ts";
import { setPodTemplateDefaults } from "../core/pod/pod-spec-defaults.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import {
  hasInvalidValue,
  orderedSelector,
  orderedTexts,
  validateLabelSelector,
} from "../shared-rules/label-selector.ts";
import { validateJobSpec } from "./job-spec-validation.ts";
import { validateJobStatus } from "./job-status-validation.ts";
import type { JobSpec } from "./job-types.ts";
import { validateJobChange } from "./job-update-validation.ts";

const UID_LABEL = "batch.kubernetes.io/controller-uid";
const NAME_LABEL = "batch.kubernetes.io/job-name";
const OLD_UID_LABEL = "controller-uid";
const OLD_NAME_LABEL = "job-name";
const MAX_INT32 = 2_147_483_647;

/** Defaults of a Job. */
export const jobDefaults: Defaults = {
  "spec.completionMode": "NonIndexed",
  "spec.suspend": false,
  "spec.manualSelector": false,
};

function setDefaults(job: KubeObject): void {
  const spec = memberOf<JobSpec>(job, "spec");
  if (spec.parallelism === undefined && spec.completions === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  setJobTemplateDefaults(spec);
  const { labels } = memberOf<ObjectMeta>(spec.template, "metadata");
  // Compat: `SetDefaults_Job` makes `metadata.labels` the same map as that of the pod template, so labels added by
  // `generateSelector` are in both.
  if (labels && isEmpty(job.metadata.labels)) job.metadata.labels = labels;
}

/** Sets defaults that a Job and a CronJob's jobTemplate share. Changes `spec`. */
export function setJobTemplateDefaults(spec: JobSpec): void {
  for (const { onPodConditions = [] } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions) if ((pattern.status ?? "") === "") pattern.status = "True";
  }
  setPodTemplateDefaults(spec.template);
}

function isEmpty(texts: Texts | undefined): boolean {
  return texts === undefined || Object.keys(texts).length === 0;
}

function prepare(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void {
  const spec = memberOf<JobSpec>(next, "spec");
  prepareJobSpec(spec, previous && memberOf<JobSpec>(previous, "spec"), context);
  if (previous || spec.manualSelector === true) return;
  const { metadata } = next;
  const template = memberOf<ObjectMeta>(spec.template, "metadata");
  const isCopy = metadata.generateName !== undefined || context.draft.empties.length > 0;
  const isShared =
    metadata.labels === template.labels || (isCopy && isDeepStrictEqual(metadata.labels, template.labels));
  generateSelector(spec, metadata);
  // Compat: decoding a stored Job runs `SetDefaults_Job` again, so one without labels is read with those of its pod
  // template.
  if (isShared || isEmpty(metadata.labels))
    metadata.labels = { ...memberOf<ObjectMeta>(spec.template, "metadata").labels };
}

/** Drops fields whose feature gate is off; stored values are kept. Changes `spec`. */
export function prepareJobSpec(spec: JobSpec, previous: JobSpec | undefined, context: WriteContext): void {
  if (!context.features.enabled("WorkloadWithJob") && previous?.scheduling === undefined) delete spec.scheduling;
  prepareTemplate(memberOf<PodTemplate>(spec, "template"), previous?.template, context);
}

function generateSelector(spec: JobSpec, { name = "", uid = "" }: ObjectMeta): void {
  const { template = {} } = spec;
  const { metadata = {} } = template;
  const generated = { [OLD_NAME_LABEL]: name, [NAME_LABEL]: name, [OLD_UID_LABEL]: uid, [UID_LABEL]: uid };
  metadata.labels = { ...generated, ...metadata.labels };
  template.metadata = metadata;
  spec.template = template;
  const selector: JsonObject = isObject(spec.selector) ? spec.selector : {};
  selector.matchLabels = { [UID_LABEL]: uid, ...memberOf(selector, "matchLabels") };
  spec.selector = selector;
}

function validateCreate(job: KubeObject, features: FeatureGates): FieldError[] {
  const spec = memberOf<JobSpec>(job, "spec");
  return [
    ...validateGeneratedSelector(spec, job.metadata),
    ...validateWhole(spec, undefined, features),
    ...validateNameOfPods(job),
  ];
}

function validateWhole(spec: JobSpec, before: JobSpec | undefined, features: FeatureGates): FieldError[] {
  const errors = validateJobSpec(spec, "spec", before, features);
  const { selector, template = {} } = spec;
  if (!isObject(selector)) errors.push(requiredField("spec.selector"));
  else {
    const allowsInvalidValues = hasInvalidValue(before?.selector);
    addAll(errors, validateLabelSelector(selector, "spec.selector", { allowsInvalidValues }));
  }
  if (isUsable(selector)) addAll(errors, validateTemplateLabels(selector, template, "spec.template"));
  return errors;
}

/**
 * Rejects a client's own selector or labels where `generateSelector` sets controller-uid and job-name, unless
 * manualSelector is true.
 */
function validateGeneratedSelector(spec: JobSpec, { name = "", uid = "" }: ObjectMeta): FieldError[] {
  if (spec.manualSelector === true || !isObject(spec.selector)) return [];
  const errors: FieldError[] = [];
  const { labels = {} } = memberOf<ObjectMeta>(spec.template, "metadata");
  const expected = { [OLD_UID_LABEL]: uid, [OLD_NAME_LABEL]: name, [UID_LABEL]: uid, [NAME_LABEL]: name };
  for (const [key, value] of Object.entries(expected)) {
    if (labels[key] === value) continue;
    const text = `must be '${value}'`;
    const path = `spec.template.metadata.labels[${key}]`;
    errors.push(labels[key] === undefined ? requiredField(path, text) : invalidField(path, orderedTexts(labels), text));
  }
  const isFound = validateTemplateLabels(spec.selector, { metadata: { labels: expected } }, "").length === 0;
  if (isUsable(spec.selector) && !isFound) {
    errors.push(invalidField("spec.selector", orderedSelector(spec.selector), "`selector` not auto-generated"));
  }
  return errors;
}

function validateNameOfPods({ metadata, spec }: KubeObject): FieldError[] {
  const { completionMode, completions = 0 } = (spec ?? {}) as JobSpec;
  if (completionMode !== "Indexed" || completions <= 0) return [];
  const { name = "" } = metadata;
  const last = `${name}-${completions - 1}`;
  if (dns1123Label(last).length === 0) return [];
  return [invalidField("metadata.name", name, `will not able to create pod with invalid DNS label: ${last}`)];
}

const MANY_INDEXES =
  "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

/** Warns about more completions than the Job controller can track exactly, and about the pod template. */
export function warnOfJobSpec(spec: JobSpec, path: string): string[] {
  const { completionMode, completions = 0, parallelism = 0, template = {} } = spec;
  const isLarge = completionMode === "Indexed" && completions > 100_000 && parallelism > 10_000;
  return [...(isLarge ? [`${path}: ${MANY_INDEXES}`] : []), ...podTemplateWarnings(template, `${path}.template`)];
}

/** Job: pods that run to completion. */
export const jobHooks: ResourceHooks = {
  setDefaults,
  prepare,
  validate(next, previous, { subresource, features }) {
    if (!previous) return validateCreate(next, features);
    if (subresource === "status") return validateJobStatus(next, previous);
    const before = memberOf<JobSpec>(previous, "spec");
    const spec = memberOf<JobSpec>(next, "spec");
    return [
      ...validateWhole(spec, before, features),
      ...validateJobChange(next, previous),
      ...validateNameOfPods(next),
    ];
  },
  warn(next, previous, { subresource }) {
    const spec = memberOf<JobSpec>(next, "spec");
    if (!previous) return [...warnOfName(next), ...warnOfJobSpec(spec, "spec")];
    return isChanged(next, previous) && subresource !== "status" ? warnOfJobSpec(spec, "spec") : [];
  },
};
