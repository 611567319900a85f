import { isDeepStrictEqual } from "node:util";
import type { Pod, StatefulSet, StatefulSetStatus } from "../../../../kinds/types/workloads.ts";
import { isAvailable, isReady } from "../../shared/pods.ts";
import { revisionOf, sizeOf } from "./identity.ts";
import type { Revisions } from "./stateful-revisions.ts";

/** Whether the API server has the Pod. */
export function isCreated({ status }: Pod): boolean {
  return (status?.phase ?? "") !== "";
}

/** Whether a Pod runs and is ready. */
export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod);
}

/** Whether a Pod is being deleted. */
export function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** The status with counts of these Pods. */
export function countedStatus(
  set: StatefulSet,
  { current, update, collisionCount }: Revisions,
  pods: readonly Pod[],
  nowMs: number,
): StatefulSetStatus {
  const { minReadySeconds = 0 } = set.spec;
  const count = (isCounted: (pod: Pod) => boolean) => pods.filter(isCounted).length;
  const countOf = (revision: string | undefined) =>
    count((pod) => isCreated(pod) && !isLeaving(pod) && revisionOf(pod) === revision);
  const { name: currentRevision = "" } = current.metadata;
  const { name: updateRevision = "" } = update.metadata;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: count(isCreated),
    readyReplicas: count(isRunningAndReady),
    currentReplicas: countOf(currentRevision),
    updatedReplicas: countOf(updateRevision),
    currentRevision,
    updateRevision,
    collisionCount,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    availableReplicas: count((pod) => isRunningAndReady(pod) && isAvailable(pod, minReadySeconds, nowMs)),
  };
}

/** The status after all Pods have been updated: the update revision becomes the current one. */
export function completedStatus(set: StatefulSet, status: StatefulSetStatus): StatefulSetStatus {
  const { updatedReplicas = 0, readyReplicas, replicas, updateRevision = "" } = status;
  const isComplete = [updatedReplicas, readyReplicas, replicas].every((count) => count === sizeOf(set));
  return isComplete ? { ...status, currentReplicas: updatedReplicas, currentRevision: updateRevision } : status;
}

const COUNTS = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const;
const REVISIONS = ["currentRevision", "updateRevision"] as const;

/** Upstream: inconsistentStatus. A changed collision count alone is not written. */
export function isSameStatus(before: StatefulSetStatus = {}, after: StatefulSetStatus): boolean {
  return (
    (after.observedGeneration ?? 0) <= (before.observedGeneration ?? 0) &&
    COUNTS.every((member) => (before[member] ?? 0) === (after[member] ?? 0)) &&
    REVISIONS.every((member) => (before[member] ?? "") === (after[member] ?? "")) &&
    isDeepStrictEqual(before.conditions ?? [], after.conditions ?? [])
  );
}
