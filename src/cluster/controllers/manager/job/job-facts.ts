import type { Job, JobCondition } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";

/** Finalizer of Pods that the status of their Job does not count yet. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** Annotation and label with the completion index of a Pod. */
export const COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index";
const CONTROLLER_NAME = "kubernetes.io/job-controller";

/** Whether each Pod works on one completion index. */
export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";
/** Whether the Job may have no active Pods now. */
export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;
/** Whether a Pod that is being deleted is only replaced once it has ended. */
export const awaitsFailure = ({ spec }: Job): boolean => spec.podReplacementPolicy === "Failed";

/** Whether another controller than this one reconciles the Job. */
export const isManagedElsewhere = ({ spec }: Job): boolean =>
  spec.managedBy !== undefined && spec.managedBy !== CONTROLLER_NAME;

/** The condition of a type, if its status is True. */
export function trueCondition({ status }: Job, type: string): JobCondition | undefined {
  const condition = status?.conditions?.find((one) => one.type === type);
  return condition?.status === "True" ? condition : undefined;
}

/** The condition Complete or Failed of a Job that has ended. */
export function endOf({ status }: Job): JobCondition | undefined {
  return status?.conditions?.find((one) => ["Complete", "Failed"].includes(one.type) && one.status === "True");
}

/** Whether the status of its Job does not count the Pod yet. */
export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;

/** Whether a Pod counts as failed. One that is deleted may never get there by itself. */
export function isFailed({ metadata, status }: Pod, job: Job): boolean {
  if (status?.phase === "Failed") return true;
  return !awaitsFailure(job) && metadata.deletionTimestamp !== undefined && status?.phase !== "Succeeded";
}

/** The completion index of a Pod, if it has a valid one. */
export function completionIndex(pod: Pod): number | undefined {
  return nonNegative(pod.metadata.annotations?.[COMPLETION_INDEX]);
}

/** The completion index of a Pod, if it is one that the Job has now. */
export function currentIndex(pod: Pod, { spec }: Job): number | undefined {
  const index = completionIndex(pod);
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

/** The completion indexes of Pods. */
export function indexesOf(pods: readonly Pod[]): number[] {
  return pods.flatMap((pod) => completionIndex(pod) ?? []);
}

/** Reads an annotation like Go's `strconv.Atoi`. Undefined if it is missing, malformed or negative. */
export function nonNegative(text: string | undefined): number | undefined {
  const number = text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
