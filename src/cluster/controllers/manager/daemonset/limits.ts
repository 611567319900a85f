import type { DaemonSet } from "../../../../kinds/types/workloads.ts";

/** How many Pods of a rollout may be unavailable, or be there twice. */
export interface Limits {
  readonly unavailable: number;
  readonly surge: number;
}

/** The limits for so many nodes. Percentages are rounded up. If both are zero, one Pod may be unavailable. */
export function limitsOf({ spec }: DaemonSet, nodes: number): Limits {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type !== "RollingUpdate" || rollingUpdate === undefined) return { unavailable: nodes > 0 ? 1 : 0, surge: 0 };
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  const unavailable = scaled(maxUnavailable, nodes);
  const surge = scaled(maxSurge, nodes);
  return { unavailable: nodes > 0 && unavailable === 0 && surge === 0 ? 1 : unavailable, surge };
}

/** Whether two Pods may be on one node during a rollout. */
export function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).surge > 0;
}

function scaled(value: number | string, total: number): number {
  return typeof value === "string" ? Math.ceil((Number.parseInt(value, 10) * total) / 100) : value;
}
