import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { AppArmorProfile } from "../../../types/container.ts";
import type { LabelSelector, Texts } from "../../../types/meta.ts";
import type { PodAffinity, PodAffinityTerm, PodSpec } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import type { PodStatus } from "../../../types/pod-status.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { validateAppArmorProfile } from "../container/security-context-validation.ts";
import { APP_ARMOR_PREFIX, annotationOf } from "./pod-annotation-validation.ts";
import { dropDisabledFields } from "./pod-disabled-fields.ts";
import { setPodLevelDefaults } from "./pod-level-resources.ts";
import { qosClassOf } from "./pod-qos.ts";

/**
 * Sets the fields of `podStrategy.PrepareForCreate`: phase Pending, qosClass, the condition of scheduling gates,
 * matchLabelKeys. Changes `pod`. Returns warnings.
 */
export function prepareNewPod(pod: KubeObject, spec: PodSpec, features: FeatureGates): string[] {
  const { metadata } = pod;
  const status: PodStatus = { phase: "Pending" };
  dropDisabledFields(spec, metadata.annotations, undefined, features);
  if ((spec.schedulingGates ?? []).length > 0) status.conditions = [gatedCondition(metadata.creationTimestamp)];
  const labels = metadata.labels ?? {};
  if (spec.affinity) {
    applyLabelKeys(spec.affinity.podAffinity, labels);
    applyLabelKeys(spec.affinity.podAntiAffinity, labels);
  }
  for (const { labelSelector, matchLabelKeys = [] } of spec.topologySpreadConstraints ?? []) {
    addRequirements(labelSelector, matchLabelKeys, "In", labels);
  }
  const warnings = applyAppArmorAnnotations(spec, metadata.annotations ?? {});
  setPodLevelDefaults(spec);
  status.qosClass = qosClassOf(spec);
  pod.status = status;
  return warnings;
}

function gatedCondition(now: string | undefined) {
  return {
    type: "PodScheduled",
    status: "False",
    // Compat: `lastProbeTime` has no omitempty and is written as null.
    lastProbeTime: null as unknown as undefined,
    lastTransitionTime: now,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
}

function applyLabelKeys(affinity: PodAffinity | undefined, labels: Texts): void {
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms: PodAffinityTerm[] = [...preferred.map(({ podAffinityTerm = {} }) => podAffinityTerm), ...required];
  for (const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } of terms) {
    addRequirements(labelSelector, matchLabelKeys, "In", labels);
    addRequirements(labelSelector, mismatchLabelKeys, "NotIn", labels);
  }
}

/** Adds a requirement for each label key that the pod has. Upstream: `applyLabelKeysToLabelSelector`. */
function addRequirements(
  selector: LabelSelector | undefined,
  keys: readonly string[],
  operator: "In" | "NotIn",
  labels: Texts,
): void {
  if (!selector) return;
  for (const key of keys) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined) continue;
    selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [value] }];
  }
}

/**
 * Compat: like `applyAppArmorVersionSkew`, AppArmor annotations become `securityContext.appArmorProfile`, with a
 * warning.
 */
function applyAppArmorAnnotations(spec: PodSpec, annotations: Texts): string[] {
  if (spec.os?.name === "windows") return [];
  const warnings: string[] = [];
  for (const { container } of containersWithPaths(spec, "")) {
    const annotation = annotationOf(annotations, APP_ARMOR_PREFIX, container.name ?? "");
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue;
    const profile = profileOf(annotation);
    if (profile && sameValue(profile, spec.securityContext?.appArmorProfile)) continue;
    if (profile) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    const key = `${APP_ARMOR_PREFIX}${container.name ?? ""}`;
    warnings.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
  return warnings;
}

/** The appArmorProfile of an AppArmor annotation; undefined if there is none. */
export function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const localhost = /^localhost\/(.+)$/s.exec(annotation)?.[1];
  if (localhost === undefined) return undefined;
  const profile: AppArmorProfile = { type: "Localhost", localhostProfile: localhost };
  const errors: Parameters<typeof validateAppArmorProfile>[0] = [];
  validateAppArmorProfile(errors, profile, "");
  return errors.length === 0 ? profile : undefined;
}
