import type { Deployment, ReplicaSet } from "../../../../kinds/types/workloads.ts";

/** How many Pods beyond `spec.replicas` a rollout may create. */
export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? bounds(deployment).surge : 0;
}

/** How many of `spec.replicas` may be unavailable during a rollout. */
export function maxUnavailable(deployment: Deployment): number {
  const { replicas = 1 } = deployment.spec;
  if (!isRolling(deployment) || replicas === 0) return 0;
  return Math.min(bounds(deployment).unavailable, replicas);
}

/** Whether the strategy is RollingUpdate. */
export function isRolling({ spec }: Deployment): boolean {
  return spec.strategy?.type === "RollingUpdate";
}

/** Rounding may leave neither a surge nor an unavailable Pod. Then one Pod may be unavailable. */
function bounds({ spec }: Deployment): { surge: number; unavailable: number } {
  const { replicas = 1, strategy } = spec;
  const { maxSurge = 0, maxUnavailable = 0 } = strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, replicas, Math.ceil);
  const unavailable = scaled(maxUnavailable, replicas, Math.floor);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** A number, or a percentage of the total. */
function scaled(value: number | string, total: number, round: (x: number) => number): number {
  return typeof value === "string" ? round((Number.parseInt(value, 10) * total) / 100) : value;
}

/** `spec.replicas` of a ReplicaSet. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

/** The sum over ReplicaSets. */
export function sum(sets: readonly ReplicaSet[], countOf: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (countOf(set) ?? 0), 0);
}
