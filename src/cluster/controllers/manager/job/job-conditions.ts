import type { JobCondition } from "../../../../kinds/built-in/batch/job-types.ts";
import { printTime } from "../../../../resources/write/metadata.ts";

/** A condition with its present time. */
export function newCondition(
  type: string,
  { status = "True", reason = "", message = "" }: Partial<JobCondition>,
  nowMs: number,
): JobCondition {
  const time = printTime(nowMs);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/**
 * The conditions with this one added or replaced. Returns the same list if nothing changes: a condition that is not
 * there is as good as False.
 *
 * Upstream: ensureJobConditionStatus
 */
export function withCondition(conditions: JobCondition[], wanted: JobCondition): JobCondition[] {
  const at = conditions.findIndex(({ type }) => type === wanted.type);
  if (at < 0) return wanted.status === "False" ? conditions : [...conditions, wanted];
  const { status, reason = "", message = "" } = conditions[at] ?? wanted;
  if (status === wanted.status && reason === wanted.reason && message === wanted.message) return conditions;
  return conditions.with(at, wanted);
}
