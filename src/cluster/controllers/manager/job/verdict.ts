import type { Job, JobCondition } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { newCondition } from "./job-conditions.ts";
import { isFailed, isSuspended, trueCondition } from "./job-facts.ts";
import { matchFailure, matchSuccess } from "./policies.ts";
import type { IndexTally, Tally } from "./tally.ts";

/** Why a Job ends before all its Pods have succeeded: SuccessCriteriaMet, FailureTarget, or Failed after the latter. */
export function verdict(job: Job, pods: readonly Pod[], tally: Tally, nowMs: number): JobCondition | undefined {
  const earlier = trueCondition(job, "SuccessCriteriaMet");
  if (earlier) return earlier;
  const target = trueCondition(job, "FailureTarget");
  if (target) return newCondition("Failed", target, nowMs);
  const failure = policyFailure(job, pods) ?? limitFailure(job, pods, tally, nowMs) ?? indexFailure(job, tally.indexes);
  if (failure) return newCondition("FailureTarget", failure, nowMs);
  const success = tally.indexes && matchSuccess(job, tally.indexes.succeeded);
  if (success === undefined) return undefined;
  return newCondition("SuccessCriteriaMet", { reason: "SuccessPolicy", message: success }, nowMs);
}

type Cause = Pick<JobCondition, "reason" | "message">;

function policyFailure(job: Job, pods: readonly Pod[]): Cause | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const message = isFailed(pod, job) ? matchFailure(job, pod).message : undefined;
    if (message !== undefined) return { reason: "PodFailurePolicy", message };
  }
  return undefined;
}

function limitFailure(job: Job, pods: readonly Pod[], { failed }: Tally, nowMs: number): Cause | undefined {
  const { backoffLimit = 6 } = job.spec;
  if (failed > backoffLimit || hasRestartedTooOften(job, pods, backoffLimit)) {
    return { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  const leftMs = deadlineMs(job, nowMs);
  if (leftMs === undefined || leftMs > 0) return undefined;
  return { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
}

/** With the restartPolicy OnFailure, restarts of containers count as failures. */
function hasRestartedTooOften({ spec }: Job, pods: readonly Pod[], limit: number): boolean {
  if (spec.template?.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    for (const { restartCount = 0 } of statuses) restarts += restartCount;
  }
  return restarts >= Math.max(limit, 1);
}

function indexFailure({ spec }: Job, indexes: IndexTally | undefined): Cause | undefined {
  const { failed, succeeded } = indexes ?? {};
  if (failed === undefined || succeeded === undefined) return undefined;
  const { maxFailedIndexes, completions = 0 } = spec;
  if (maxFailedIndexes !== undefined && failed.size > maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return { reason: "MaxFailedIndexesExceeded", message };
  }
  if (failed.isEmpty || failed.size + succeeded.size < completions) return undefined;
  return { reason: "FailedIndexes", message: "Job has failed indexes" };
}

/** Milliseconds until `spec.activeDeadlineSeconds` have passed. Undefined if no time runs. */
export function deadlineMs(job: Job, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const { startTime } = job.status ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(job)) return undefined;
  return Date.parse(startTime) + activeDeadlineSeconds * 1000 - nowMs;
}
