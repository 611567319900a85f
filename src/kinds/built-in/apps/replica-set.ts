import type { FieldError } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { setPodTemplateDefaults } from "../core/pod/pod-spec-defaults.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";
import { nonNegativeMembers } from "../shared-rules/numbers.ts";
import {
  memberOf,
  prepareTemplate,
  templateOf,
  validateNotMoreThan,
  validateReplicated,
  type WorkloadSpec,
  warnOfWorkload,
} from "./workload.ts";

const COUNTERS = [
  "replicas",
  "fullyLabeledReplicas",
  "readyReplicas",
  "availableReplicas",
  "observedGeneration",
  "terminatingReplicas",
];

/** Validates the replica counters in the status of a ReplicaSet or ReplicationController. */
export function validateReplicaCounters(object: KubeObject): FieldError[] {
  const status = memberOf(object, "status");
  const all = { member: "replicas", named: "status.replicas" };
  const ready = { member: "readyReplicas", named: "readyReplicas" };
  return [
    ...nonNegativeMembers(status, "status", COUNTERS),
    ...validateNotMoreThan(status, "status", ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"], all),
    ...validateNotMoreThan(status, "status", ["availableReplicas"], ready),
  ];
}

/** ReplicaSet: keeps a number of identical pods. */
export const replicaSetHooks: ResourceHooks = {
  setDefaults: (replicaSet) => setPodTemplateDefaults(templateOf(replicaSet)),
  prepare: (next, previous, context) => prepareTemplate(templateOf(next), previous && templateOf(previous), context),
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return validateReplicaCounters(next);
    const spec = memberOf<WorkloadSpec>(next, "spec");
    const before = previous && memberOf<WorkloadSpec>(previous, "spec");
    return [
      ...nonNegativeMembers(spec, "spec", ["replicas", "minReadySeconds"]),
      ...validateReplicated(spec, "spec", before, features),
      ...(before ? immutable(spec.selector, before.selector, "spec.selector", orderedSelector) : []),
    ];
  },
  warn: warnOfWorkload,
};
