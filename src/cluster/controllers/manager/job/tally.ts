import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { isActive } from "../../shared/pods.ts";
import { failsIndex, podsToReplace } from "./indexed-pods.ts";
import { Indexes } from "./indexes.ts";
import { currentIndex, indexesOf, isFailed, isIndexed, isTracked } from "./job-facts.ts";
import { matchFailure } from "./policies.ts";

/** What the Pods of a Job amount to at the start of a sync. */
export interface Tally {
  readonly active: readonly Pod[];
  /** Pods that have ended and that the status does not include. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  /** Pods, or indexes of an indexed Job, that have succeeded. */
  readonly succeeded: number;
  /** Failures that count towards `spec.backoffLimit`. */
  readonly failed: number;
  readonly indexes: IndexTally | undefined;
}

/** What an indexed Job has beyond that. */
export interface IndexTally {
  /** According to the status. */
  readonly succeededBefore: Indexes;
  readonly succeeded: Indexes;
  /** Undefined without `spec.backoffLimitPerIndex`. */
  readonly failed: Indexes | undefined;
  /** Failed Pods that wait for their replacement, by index. */
  readonly replaced: ReadonlyMap<number, Pod>;
}

/** Counts the Pods of a Job. */
export function tallyPods(job: Job, pods: readonly Pod[]): Tally {
  const { status = {} } = job;
  const { succeeded: uncountedSucceeded = [], failed: uncountedFailed = [] } = status.uncountedTerminatedPods ?? {};
  const active = pods.filter(isActive);
  const isNew = (uncounted: readonly string[]) => {
    const known = new Set(uncounted);
    return (pod: Pod) =>
      isTracked(pod) && !known.has(pod.metadata.uid ?? "") && (!isIndexed(job) || currentIndex(pod, job) !== undefined);
  };
  const newSucceeded = pods.filter(isNew(uncountedSucceeded)).filter(hasSucceeded);
  const newFailed = pods.filter(isNew(uncountedFailed)).filter((pod) => isFailed(pod, job));
  const counted = newFailed.filter((pod) => matchFailure(job, pod).counts);
  const indexes = isIndexed(job) ? tallyIndexes(job, pods, active) : undefined;
  return {
    active,
    newSucceeded,
    newFailed,
    succeeded: indexes
      ? indexes.succeeded.size
      : (status.succeeded ?? 0) + newSucceeded.length + uncountedSucceeded.length,
    failed: (status.failed ?? 0) + counted.length + uncountedFailed.length,
    indexes,
  };
}

/** Whether a Pod has ended with success. */
export const hasSucceeded = ({ status }: Pod): boolean => status?.phase === "Succeeded";

function tallyIndexes(job: Job, pods: readonly Pod[], active: readonly Pod[]): IndexTally {
  const { completions = 0, backoffLimitPerIndex } = job.spec;
  const { completedIndexes = "", failedIndexes = "" } = job.status ?? {};
  const tracked = pods.filter((pod) => isTracked(pod) && currentIndex(pod, job) !== undefined);
  const succeededBefore = Indexes.parse(completedIndexes, completions);
  const succeeded = succeededBefore.with(Indexes.of(indexesOf(tracked.filter(hasSucceeded))));
  if (backoffLimitPerIndex === undefined) {
    return { succeededBefore, succeeded, failed: undefined, replaced: new Map() };
  }
  const newlyFailed = tracked.filter((pod) => failsIndex(job, pod));
  const failed = Indexes.parse(failedIndexes, completions).with(Indexes.of(indexesOf(newlyFailed)));
  const known = { active: new Set(indexesOf(active)), ended: [succeeded, failed] };
  return { succeededBefore, succeeded, failed, replaced: podsToReplace(job, pods, known) };
}
