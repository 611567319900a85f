import { isDeepStrictEqual } from "node:util";
import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { setPodTemplateDefaults } from "../core/pod/pod-spec-defaults.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { atMostAll, intOrPercentValue, validateIntOrPercent } from "../shared-rules/int-or-percent.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";
import { nonNegative, nonNegativeMembers, notDecremented } from "../shared-rules/numbers.ts";
import {
  memberOf,
  prepareTemplate,
  ROLLOUT,
  templateOf,
  validateNotMoreThan,
  validateReplicated,
  type WorkloadSpec,
  warnOfWorkload,
} from "./workload.ts";

interface DeploymentSpec extends WorkloadSpec {
  strategy?: Strategy;
  progressDeadlineSeconds?: number;
}

interface Strategy extends JsonObject {
  type?: string;
  rollingUpdate?: JsonObject;
}

/** Defaults of a Deployment. */
export const deploymentDefaults: Defaults = {
  "spec.replicas": 1,
  "spec.strategy.type": "RollingUpdate",
  "spec.revisionHistoryLimit": 10,
  "spec.progressDeadlineSeconds": 600,
};

function setDefaults(deployment: KubeObject): void {
  const { strategy, template } = memberOf<DeploymentSpec>(deployment, "spec");
  if (strategy?.type === "RollingUpdate") {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= "25%";
    strategy.rollingUpdate.maxSurge ??= "25%";
  }
  setPodTemplateDefaults(template);
}

function validateStrategy(strategy: Strategy, path: string): FieldError[] {
  const { type, rollingUpdate } = strategy;
  if (type === "Recreate") {
    if (rollingUpdate === undefined) return [];
    return [forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== "RollingUpdate")
    return [notSupportedField(path, asGo(strategy, ROLLOUT), ["Recreate", "RollingUpdate"])];
  if (!isObject(rollingUpdate)) {
    return [requiredField(`${path}.rollingUpdate`, "this should be defaulted and never be nil")];
  }
  return validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`);
}

function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    errors.push(invalidField(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return [...errors, ...atMostAll(maxUnavailable, `${path}.maxUnavailable`)];
}

function validateSpec(spec: DeploymentSpec, before: DeploymentSpec | undefined, features: FeatureGates): FieldError[] {
  const { replicas, strategy = {}, minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const errors = [
    ...nonNegative(replicas, "spec.replicas"),
    ...validateReplicated(spec, "spec", before, features),
    ...validateStrategy(strategy, "spec.strategy"),
    ...nonNegativeMembers(spec, "spec", ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]),
  ];
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    const text = "must be greater than minReadySeconds";
    errors.push(invalidField("spec.progressDeadlineSeconds", progressDeadlineSeconds, text));
  }
  return errors;
}

const COUNTERS = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
];

function validateStatus(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const status = memberOf(next, "status");
  const all = { member: "replicas", named: "status.replicas" };
  const ready = { member: "readyReplicas", named: "readyReplicas" };
  return [
    ...nonNegativeMembers(status, "status", COUNTERS),
    ...validateNotMoreThan(status, "status", ["updatedReplicas", "readyReplicas", "availableReplicas"], all),
    ...validateNotMoreThan(status, "status", ["availableReplicas"], ready),
    ...notDecremented(status.collisionCount, memberOf(previous, "status").collisionCount, "status.collisionCount"),
  ];
}

/** Deployment: replicas of a pod template, replaced according to its strategy when the template changes. */
export const deploymentHooks: ResourceHooks = {
  setDefaults,
  prepare(next, previous, context) {
    prepareTemplate(templateOf(next), previous && templateOf(previous), context);
    if (!previous || context.subresource === "status") return;
    const { annotations = {}, generation = 0 } = previous.metadata;
    // Compat: `metadata.generation` also counts changes of annotations, since the controller copies them to
    // ReplicaSets.
    if (!isDeepStrictEqual(next.metadata.annotations ?? {}, annotations)) next.metadata.generation = generation + 1;
  },
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return validateStatus(next, previous);
    const spec = memberOf<DeploymentSpec>(next, "spec");
    if (!previous) return validateSpec(spec, undefined, features);
    const before = memberOf<DeploymentSpec>(previous, "spec");
    return [
      ...validateSpec(spec, before, features),
      ...immutable(spec.selector, before.selector, "spec.selector", orderedSelector),
    ];
  },
  warn: warnOfWorkload,
};
