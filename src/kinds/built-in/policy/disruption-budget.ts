import { type FieldError, invalidField, notSupportedField } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { LabelSelector } from "../../types/meta.ts";
import { memberOf } from "../apps/workload.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { atMostAll, validateIntOrPercent } from "../shared-rules/int-or-percent.ts";
import { orderedSelector, validateLabelSelector } from "../shared-rules/label-selector.ts";
import { nonNegativeMembers } from "../shared-rules/numbers.ts";

const SPEC: GoShape = [
  ["MinAvailable", "minAvailable"],
  ["Selector", "selector"],
  ["MaxUnavailable", "maxUnavailable"],
  ["UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"],
];
const EVICTION_POLICIES = ["AlwaysAllow", "IfHealthyBudget"];

function validateSpec(spec: JsonObject, before: JsonObject): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = asGo({ ...spec, selector: orderedSelector(selector) }, SPEC);
    errors.push(invalidField("spec", shown, "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const member of ["minAvailable", "maxUnavailable"]) {
    addAll(errors, validateIntOrPercent(spec[member], `spec.${member}`), atMostAll(spec[member], `spec.${member}`));
  }
  const allowsInvalidValues = validateLabelSelector(before.selector, "").length > 0;
  addAll(errors, validateLabelSelector(selector, "spec.selector", { allowsInvalidValues }));
  if (policy !== undefined && !EVICTION_POLICIES.includes(String(policy))) {
    errors.push(notSupportedField("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES));
  }
  return errors;
}

// Compat: upstream's `PDBV1beta1Label`, by which policy/v1beta1 distinguished an empty selector (no pods) from v1's
// (all pods). v1 only keeps it as the sole matchExpression.
const V1BETA1_LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

function dropV1beta1Label(selector: Json | undefined, before: Json | undefined): void {
  if (!isObject(selector) || sameValue(selector, before)) return;
  const { matchLabels, matchExpressions = [] }: LabelSelector = selector;
  const [only] = matchExpressions;
  const isMark = matchExpressions.length === 1 && only?.key === V1BETA1_LABEL && only.operator === "Exists";
  if (isMark && matchLabels === undefined && only.values === undefined) return;
  const kept = matchExpressions.filter(({ key }) => key !== V1BETA1_LABEL);
  if (kept.length > 0) selector.matchExpressions = kept;
  else delete selector.matchExpressions;
}

/** PodDisruptionBudget: how many pods may be unavailable at once through evictions. */
export const disruptionBudgetHooks: ResourceHooks = {
  prepare: (next, previous) => dropV1beta1Label(memberOf(next, "spec").selector, memberOf(previous, "spec").selector),
  validate(next, previous, { subresource }) {
    if (subresource !== "status") return validateSpec(memberOf(next, "spec"), memberOf(previous, "spec"));
    const status = memberOf(next, "status");
    const counters = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    return [
      ...validateConditions(status.conditions, "status.conditions"),
      ...nonNegativeMembers(status, "status", counters),
    ];
  },
};
