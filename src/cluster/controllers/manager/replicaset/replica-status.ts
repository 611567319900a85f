import { isDeepStrictEqual } from "node:util";
import { matchesLabels } from "../../../../base/api/label-selector.ts";
import { readLabelMap } from "../../../../base/api/selector-object.ts";
import type { Pod, ReplicaSet, ReplicaSetStatus, WorkloadCondition } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { isAvailable, isReady } from "../../shared/pods.ts";

const FAILURE = "ReplicaFailure";

/** What the status is computed from. */
export interface Observed {
  readonly active: readonly Pod[];
  /** Undefined if the kind does not count them. */
  readonly terminating: readonly Pod[] | undefined;
  /** Why Pods could not be created or deleted. */
  readonly failure: Error | undefined;
  readonly nowMs: number;
}

/** The new status, or undefined if it does not change. */
export function nextStatus(set: ReplicaSet, observed: Observed): ReplicaSetStatus | undefined {
  const { active, terminating, nowMs } = observed;
  const { status: before = {}, spec } = set;
  const labels = readLabelMap(spec.template?.metadata?.labels);
  const ready = active.filter(isReady);
  const conditions = nextConditions(set, observed);
  const counts = {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => matchesLabels(labels, metadata.labels)).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, nowMs)).length,
  };
  const { generation = 0 } = set.metadata;
  const next: ReplicaSetStatus = {
    ...before,
    ...counts,
    ...(terminating && { terminatingReplicas: terminating.length }),
    observedGeneration: generation,
    conditions,
  };
  const isSame =
    Object.entries(counts).every(([member, count]) => (before[member] ?? 0) === count) &&
    (terminating === undefined || before.terminatingReplicas === terminating.length) &&
    (before.observedGeneration ?? 0) === generation &&
    isDeepStrictEqual(before.conditions ?? [], conditions);
  return isSame ? undefined : next;
}

/** Upstream: calculateStatus. The first failure stays in the condition until there is none. */
function nextConditions({ spec, status }: ReplicaSet, { active, failure, nowMs }: Observed): WorkloadCondition[] {
  const conditions = status?.conditions ?? [];
  if (failure === undefined) return conditions.filter(({ type }) => type !== FAILURE);
  if (conditions.some(({ type }) => type === FAILURE)) return conditions;
  const missing = (spec.replicas ?? 1) - active.length;
  const reason = missing > 0 ? "FailedCreate" : "FailedDelete";
  const lastTransitionTime = printTime(nowMs);
  return [...conditions, { type: FAILURE, status: "True", lastTransitionTime, reason, message: failure.message }];
}
