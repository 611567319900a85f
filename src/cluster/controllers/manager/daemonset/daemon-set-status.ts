import type { DaemonSet, DaemonSetStatus } from "../../../../kinds/types/workloads.ts";
import { isAvailable, isReady } from "../../shared/pods.ts";
import { bySeniority, isUpdated } from "./daemon-pods.ts";
import type { Observed } from "./plan.ts";

/** Counts nodes by the oldest Pod on each. */
export function countedStatus({ set, hash, placements, pods, nowMs }: Observed): DaemonSetStatus {
  let [desired, current, misscheduled, ready, updated, available] = [0, 0, 0, 0, 0, 0];
  for (const [node, { shouldRun }] of placements) {
    const [pod] = [...(pods.get(node) ?? [])].sort(bySeniority);
    if (shouldRun) desired++;
    else if (pod) misscheduled++;
    if (!shouldRun || pod === undefined) continue;
    current++;
    if (isReady(pod)) ready++;
    if (isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)) available++;
    if (isUpdated(set, pod, hash)) updated++;
  }
  return {
    ...set.status,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    observedGeneration: set.metadata.generation ?? 0,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
}

/** Whether all counts are the same. */
export function isSameStatus({ status: before = {} }: DaemonSet, after: DaemonSetStatus): boolean {
  return Object.entries(after).every(([member, count]) => (before[member] ?? 0) === count);
}
