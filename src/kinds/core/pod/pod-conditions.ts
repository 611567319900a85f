import { printTime } from "../../../resources/write/metadata.ts";
import type { PodCondition, PodStatus } from "../../../types/pod-status.ts";

/** Sets a condition of a pod; its time is that of the last change of its status. Changes `status`. */
export function setPodCondition(status: PodStatus, condition: PodCondition, now: number): void {
  const conditions = [...(status.conditions ?? [])];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[index];
  const { type, status: value, ...rest } = condition;
  const lastTransitionTime = old?.status === value ? old?.lastTransitionTime : printTime(now);
  // Compat: times that are not set are written nevertheless.
  const lastProbeTime = null as unknown as undefined;
  conditions.splice(index < 0 ? conditions.length : index, 1, {
    type,
    status: value,
    lastProbeTime,
    lastTransitionTime: lastTransitionTime ?? lastProbeTime,
    ...rest,
  });
  status.conditions = conditions;
}
