import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { matchesLabels } from "../../../base/api/label-selector.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { WriteContext } from "../../../resources/model/definition.ts";
import type { PodSpec } from "../../types/pod.ts";
import { dropDisabledFields } from "../core/pod/pod-disabled-fields.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { labelName } from "../shared-rules/formats.ts";
import type { GoShape } from "../shared-rules/go-print.ts";
import {
  isEmptySelector,
  orderedSelector,
  orderedTexts,
  validateLabelSelector,
} from "../shared-rules/label-selector.ts";

/** PodTemplateSpec: the template of a workload's pods. */
export interface PodTemplate extends JsonObject {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

/** Common fields of the specs of Deployment, ReplicaSet, DaemonSet, StatefulSet and Job. */
export interface WorkloadSpec extends JsonObject {
  replicas?: number;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  selector?: JsonObject;
  template?: PodTemplate;
}

/** DeploymentStrategy and DaemonSetUpdateStrategy, as printed in messages. */
export const ROLLOUT: GoShape = [
  ["Type", "type", ""],
  [
    "RollingUpdate",
    "rollingUpdate",
    null,
    [
      ["MaxUnavailable", "maxUnavailable", 0],
      ["MaxSurge", "maxSurge", 0],
    ],
  ],
];

/** The object in a field; a detached empty object if there is none. */
export function memberOf<T extends JsonObject>(object: JsonObject | undefined, member: string): T {
  const value = object?.[member];
  return (isObject(value) ? value : {}) as T;
}

/** Rejects a `spec.selector` that is missing, malformed or empty; `kind` is the kind in the message. */
export function validateSelector(selector: Json | undefined, path: string, kind: string): FieldError[] {
  if (!isObject(selector)) return [requiredField(path)];
  const errors = validateLabelSelector(selector, path);
  if (isEmptySelector(selector)) errors.push(invalidField(path, {}, `empty selector is invalid for ${kind}`));
  return errors;
}

/** Whether `LabelSelectorAsSelector` would accept the selector. */
export function isUsable(selector: Json | undefined): boolean {
  return validateLabelSelector(selector, "").length === 0;
}

/**
 * Rejects template labels that `spec.selector` does not match. Compat: `LabelSelectorAsSelector(nil)` matches nothing,
 * so a missing selector is rejected here too.
 */
export function validateTemplateLabels(selector: Json | undefined, template: PodTemplate, path: string): FieldError[] {
  const { labels } = memberOf<ObjectMeta>(template, "metadata");
  const requirements = isObject(selector) ? readSelectorObject(selector) : undefined;
  if (requirements && matchesLabels(requirements, labels)) return [];
  const text = "`selector` does not match template `labels`";
  return [invalidField(`${path}.metadata.labels`, orderedTexts(labels), text)];
}

/**
 * Rejects a template whose restartPolicy is not Always or that has activeDeadlineSeconds; `kind` is the kind in the
 * message.
 */
export function validateRunsForever(template: PodTemplate, path: string, kind: string): FieldError[] {
  const { restartPolicy = "", activeDeadlineSeconds } = memberOf<PodSpec>(template, "spec");
  const errors: FieldError[] = [];
  if (restartPolicy !== "Always")
    errors.push(notSupportedField(`${path}.spec.restartPolicy`, restartPolicy, ["Always"]));
  if (activeDeadlineSeconds !== undefined) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbiddenField(`${path}.spec.activeDeadlineSeconds`, text));
  }
  return errors;
}

/**
 * Validates selector and template of a Deployment or ReplicaSet. Compat: for both, messages name "deployment" for the
 * selector and "ReplicaSet" for activeDeadlineSeconds.
 */
export function validateReplicated(
  spec: WorkloadSpec,
  path: string,
  before: WorkloadSpec | undefined,
  features: FeatureGates,
): FieldError[] {
  const { selector, template = {} } = spec;
  const errors = validateSelector(selector, `${path}.selector`, "deployment");
  if (!isUsable(selector)) {
    errors.push(invalidField(`${path}.selector`, orderedSelector(selector), "invalid label selector"));
    return errors;
  }
  return [
    ...errors,
    ...validateTemplateLabels(selector, template, `${path}.template`),
    ...validatePodTemplate(template, `${path}.template`, features, before?.template),
    ...validateRunsForever(template, `${path}.template`, "ReplicaSet"),
  ];
}

/** `spec.template` of a workload. */
export function templateOf(workload: KubeObject | undefined): PodTemplate {
  return memberOf<PodTemplate>(memberOf<WorkloadSpec>(workload, "spec"), "template");
}

/** Drops fields of disabled feature gates from a pod template (`DropDisabledTemplateFields`). Changes `template`. */
export function prepareTemplate(
  template: PodTemplate,
  before: PodTemplate | undefined,
  { features }: WriteContext,
): void {
  const { metadata, spec = {} } = template;
  dropDisabledFields(spec, metadata?.annotations, before?.spec, features);
}

/** Whether a write changed `metadata.generation`, so that warnings apply. */
export function isChanged(next: KubeObject, previous: KubeObject | undefined): boolean {
  return next.metadata.generation !== previous?.metadata.generation;
}

/** Warnings about the name of a new workload, and about its pod template if it may have changed. */
export function warnOfWorkload(next: KubeObject, previous: KubeObject | undefined): string[] {
  if (!previous) return [...warnOfName(next), ...podTemplateWarnings(templateOf(next), "spec.template")];
  return isChanged(next, previous) ? podTemplateWarnings(templateOf(next), "spec.template") : [];
}

/** Warns about a name that is not a DNS label, and so cannot be the hostname of pods. */
export function warnOfName({ metadata }: KubeObject): string[] {
  const problems = labelName(metadata.name ?? "");
  if (problems.length === 0) return [];
  const text =
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  return [`${text}: [${problems.join(" ")}]`];
}

/** Rejects status counters that exceed another counter, in the order given. */
export function validateNotMoreThan(
  status: JsonObject,
  path: string,
  members: readonly string[],
  other: { readonly member: string; readonly named: string },
): FieldError[] {
  const count = (member: string): number => (typeof status[member] === "number" ? status[member] : 0);
  return members
    .filter((member) => count(member) > count(other.member))
    .map((member) => invalidField(`${path}.${member}`, count(member), `cannot be greater than ${other.named}`));
}
