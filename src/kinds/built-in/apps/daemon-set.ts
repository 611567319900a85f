import { badRequest } from "../../../base/api/api-error.ts";
import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks, WriteContext } from "../../../resources/model/definition.ts";
import { setPodTemplateDefaults } from "../core/pod/pod-spec-defaults.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { immutable, sameValue } from "../shared-rules/immutable.ts";
import { atMostAll, intOrPercentValue, validateIntOrPercent } from "../shared-rules/int-or-percent.ts";
import {
  hasInvalidValue,
  isEmptySelector,
  orderedSelector,
  validateLabelSelector,
} from "../shared-rules/label-selector.ts";
import { nonNegativeMembers, notDecremented } from "../shared-rules/numbers.ts";
import {
  isUsable,
  memberOf,
  prepareTemplate,
  ROLLOUT,
  templateOf,
  validateRunsForever,
  validateTemplateLabels,
  type WorkloadSpec,
} from "./workload.ts";

interface DaemonSetSpec extends WorkloadSpec {
  updateStrategy?: UpdateStrategy;
}

interface UpdateStrategy extends JsonObject {
  type?: string;
  rollingUpdate?: JsonObject;
}

/** Defaults of a DaemonSet. */
export const daemonSetDefaults: Defaults = {
  "spec.updateStrategy.type": "RollingUpdate",
  "spec.revisionHistoryLimit": 10,
};

// Compat: the internal DaemonSet's `spec.templateGeneration`, which apps/v1 shows as this annotation
// (`DeprecatedTemplateGeneration`) and reads from it, but counts itself.
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

function templateGeneration({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[TEMPLATE_GENERATION] ?? "0";
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  const problem = `strconv.ParseInt: parsing ${quote(text)}: invalid syntax`;
  throw badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${problem}`);
}

function setTemplateGeneration({ metadata }: KubeObject, count: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(count) };
}

function setDefaults(daemonSet: KubeObject): void {
  const { updateStrategy, template } = memberOf<DaemonSetSpec>(daemonSet, "spec");
  if (updateStrategy?.type === "RollingUpdate") {
    updateStrategy.rollingUpdate ??= {};
    updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  }
  // Compat: `rollingUpdate.maxUnavailable` and `maxSurge` are not pointers internally, so both are written even for
  // OnDelete.
  if (updateStrategy?.rollingUpdate) {
    updateStrategy.rollingUpdate.maxUnavailable ??= 0;
    updateStrategy.rollingUpdate.maxSurge ??= 0;
  }
  setPodTemplateDefaults(template);
  setTemplateGeneration(daemonSet, templateGeneration(daemonSet));
}

function prepare(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void {
  prepareTemplate(templateOf(next), previous && templateOf(previous), context);
  if (!previous) {
    setTemplateGeneration(next, Math.max(1, templateGeneration(next)));
    return;
  }
  const isSame = sameValue(templateOf(next), templateOf(previous));
  setTemplateGeneration(next, templateGeneration(previous) + (isSame ? 0 : 1));
}

function validateStrategy(strategy: UpdateStrategy, path: string): FieldError[] {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate")
    return [notSupportedField(path, asGo(strategy, ROLLOUT), ["RollingUpdate", "OnDelete"])];
  if (!isObject(rollingUpdate)) return [requiredField(`${path}.rollingUpdate`)];
  return validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`);
}

function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...atMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...atMostAll(maxSurge, `${path}.maxSurge`),
  ];
  const isUnavailable = intOrPercentValue(maxUnavailable) !== 0;
  const isSurging = intOrPercentValue(maxSurge) !== 0;
  if (isUnavailable && isSurging) {
    errors.push(invalidField(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  } else if (!isUnavailable && !isSurging) {
    errors.push(requiredField(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
  return errors;
}

function validateSpec(spec: DaemonSetSpec, before: DaemonSetSpec | undefined, features: FeatureGates): FieldError[] {
  const { selector, template = {}, updateStrategy = {} } = spec;
  const errors = validateLabelSelector(selector, "spec.selector", {
    allowsInvalidValues: hasInvalidValue(before?.selector),
  });
  if (isUsable(selector)) addAll(errors, validateTemplateLabels(selector, template, "spec.template"));
  if (isObject(selector) && isEmptySelector(selector)) {
    errors.push(invalidField("spec.selector", {}, "empty selector is invalid for daemonset"));
  }
  return [
    ...errors,
    ...validatePodTemplate(template, "spec.template", features, before?.template),
    ...validateRunsForever(template, "spec.template", "DaemonSet"),
    ...nonNegativeMembers(spec, "spec", ["minReadySeconds"]),
    ...validateStrategy(updateStrategy, "spec.updateStrategy"),
    ...nonNegativeMembers(spec, "spec", ["revisionHistoryLimit"]),
  ];
}

const COUNTERS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
];

/** DaemonSet: one pod of a template on every node. */
export const daemonSetHooks: ResourceHooks = {
  setDefaults,
  prepare,
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") {
      const status = memberOf(next, "status");
      const { collisionCount } = memberOf(previous, "status");
      return [
        ...nonNegativeMembers(status, "status", COUNTERS),
        ...notDecremented(status.collisionCount, collisionCount, "status.collisionCount"),
      ];
    }
    const spec = memberOf<DaemonSetSpec>(next, "spec");
    if (!previous) return validateSpec(spec, undefined, features);
    const before = memberOf<DaemonSetSpec>(previous, "spec");
    return [
      ...immutable(spec.selector, before.selector, "spec.selector", orderedSelector),
      ...validateSpec(spec, before, features),
    ];
  },
  warn(next, previous) {
    if (previous && templateGeneration(next) === templateGeneration(previous)) return [];
    return podTemplateWarnings(templateOf(next), "spec.template");
  },
};
