import type { ContainerStatus } from "../../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";

/** The failures of a Job's Pods since one succeeded. */
export interface BackoffRecord {
  readonly failures: number;
  readonly lastFailureMs: number | undefined;
}

/** Upstream: DefaultJobPodFailureBackOff and MaxJobPodFailureBackOff. */
const FIRST_MS = 10_000;
const MAX_MS = 600_000;

/** The record after Pods have ended that it does not include. */
export function nextRecord(
  before: BackoffRecord | undefined,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): BackoffRecord {
  const { failures, lastFailureMs } = before ?? { failures: 0, lastFailureMs: undefined };
  const failedMs = failed.map(finishedMs);
  if (succeeded.length === 0) {
    if (failed.length === 0) return { failures, lastFailureMs };
    return { failures: failures + failed.length, lastFailureMs: latest(failedMs) };
  }
  const lastSuccessMs = latest(succeeded.map(finishedMs)) ?? 0;
  const later = failedMs.filter((ms) => ms > lastSuccessMs);
  return { failures: later.length, lastFailureMs: latest(later) };
}

/** Milliseconds until the next Pod may be created. 0: now. The delay doubles with each failure. */
export function remainingMs({ failures, lastFailureMs = 0 }: BackoffRecord, nowMs: number): number {
  if (failures === 0) return 0;
  const delayMs = Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));
  return Math.max(0, delayMs - (nowMs - lastFailureMs));
}

/**
 * When a Pod ended: when its last container did, or else when it became unready, was deleted or was created.
 *
 * Upstream: getFinishedTime
 */
export function finishedMs(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = "" } = pod.metadata;
  const ofContainers = containersFinishedMs(pod);
  if (ofContainers !== undefined) return ofContainers;
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}

/** Sidecars end after the other containers. Undefined unless all of them have ended. */
function containersFinishedMs({ spec, status }: Pod): number | undefined {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = new Set(sidecars.map(({ name }) => name));
  const ofSidecars = (status?.initContainerStatuses ?? []).filter(({ name }) => names.has(name));
  return lastFinishMs(ofSidecars, lastFinishMs(status?.containerStatuses ?? [], undefined));
}

function lastFinishMs(statuses: readonly ContainerStatus[], before: number | undefined): number | undefined {
  let last = before;
  for (const { state } of statuses) {
    const finishedAt = state?.terminated?.finishedAt;
    if (!finishedAt) return undefined;
    last = Math.max(last ?? Number.NEGATIVE_INFINITY, Date.parse(finishedAt));
  }
  return last;
}

function latest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.max(one, other));
}
