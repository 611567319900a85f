import type { PodInfo } from "../pod-info.ts";

/** Compares Pods: those with a higher priority first, then those that started earlier. Upstream: MoreImportantVictim */
export function byImportance(nowMs: number): (one: PodInfo, other: PodInfo) => number {
  return (one, other) => other.priority - one.priority || startMs(one, nowMs) - startMs(other, nowMs);
}

/** A Pod that has not started yet counts as if it started now. Upstream: GetPodStartTime */
export function startMs({ pod }: PodInfo, nowMs: number): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? nowMs : Date.parse(startTime);
}
