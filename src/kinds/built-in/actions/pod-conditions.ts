import { printTime } from "../../../resources/write/metadata.ts";
import type { PodCondition, PodStatus } from "../../types/pod-status.ts";

/** Sets a PodCondition; lastTransitionTime changes with its status. Changes `status`. */
export function setPodCondition(status: PodStatus, condition: PodCondition, now: number): void {
  const conditions = [...(status.conditions ?? [])];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[index];
  const { type, status: value, ...rest } = condition;
  const lastTransitionTime = old?.status === value ? old?.lastTransitionTime : printTime(now);
  // Compat: `lastProbeTime` has no omitempty and is written as null.
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
