import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Container } from "../../../../kinds/types/container.ts";
import type { Pod, PodTemplateSpec } from "../../../../kinds/types/workloads.ts";
import { sortByProgress } from "../../shared/pods.ts";
import type { Indexes } from "./indexes.ts";
import {
  COMPLETION_INDEX,
  completionIndex,
  currentIndex,
  isFailed,
  isTracked,
  nonNegative,
  TRACKING_FINALIZER,
} from "./job-facts.ts";
import { finishedMs } from "./pod-backoff.ts";
import { matchFailure } from "./policies.ts";

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";
const FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count";
const MAX_INT32 = 2 ** 31 - 1;
/** Upstream: MaxGeneratedNameLength. The server adds five characters. */
const MAX_PREFIX = 58;

/** The failures of a Pod's index before it, as its annotations say. */
function failureCounts({ metadata }: Pod): { readonly counted: number; readonly ignored: number } {
  const read = (name: string) => {
    const count = nonNegative(metadata.annotations?.[name]) ?? 0;
    return count > MAX_INT32 ? 0 : count;
  };
  return { counted: read(FAILURE_COUNT), ignored: read(IGNORED_FAILURE_COUNT) };
}

/** All failures of a Pod's index before it. */
export function failuresBefore(pod: Pod): number {
  const { counted, ignored } = failureCounts(pod);
  return counted + ignored;
}

/** Whether the index of a Pod fails with it: by a rule, or because it has reached `spec.backoffLimitPerIndex`. */
export function failsIndex(job: Job, pod: Pod): boolean {
  if (!isFailed(pod, job)) return false;
  const { action, counts } = matchFailure(job, pod);
  if (action === "FailIndex") return true;
  return counts && failureCounts(pod).counted >= (job.spec.backoffLimitPerIndex ?? 0);
}

/** The template of a Job's Pods without index. */
export function baseTemplate({ spec }: Job): PodTemplateSpec {
  const { metadata = {}, ...rest } = spec.template ?? {};
  const finalizers = [...new Set([...(metadata.finalizers ?? []), TRACKING_FINALIZER])];
  return { ...rest, metadata: { ...metadata, finalizers } };
}

/** The template of the Pod with an index. It takes over the failure count of the Pod that it replaces. */
export function indexedTemplate(job: Job, index: number, replaced: Pod | undefined): PodTemplateSpec {
  const { metadata = {}, spec = {} } = baseTemplate(job);
  const text = `${index}`;
  const annotations = { ...metadata.annotations, [COMPLETION_INDEX]: text, ...countAnnotations(job, replaced) };
  const labels = { ...metadata.labels, [COMPLETION_INDEX]: text };
  const { initContainers, containers } = spec;
  return {
    metadata: { ...metadata, annotations, labels },
    spec: {
      ...spec,
      ...(initContainers && { initContainers: initContainers.map(withIndexVariable) }),
      ...(containers && { containers: containers.map(withIndexVariable) }),
      hostname: `${job.metadata.name}-${index}`,
    },
  };
}

function countAnnotations(job: Job, replaced: Pod | undefined): { [name: string]: string } {
  if (job.spec.backoffLimitPerIndex === undefined) return {};
  if (replaced === undefined) return { [FAILURE_COUNT]: "0" };
  const { counted, ignored } = failureCounts(replaced);
  const { counts } = matchFailure(job, replaced);
  const ignoredNow = counts ? ignored : ignored + 1;
  return {
    [FAILURE_COUNT]: `${counts ? counted + 1 : counted}`,
    ...(ignoredNow > 0 && { [IGNORED_FAILURE_COUNT]: `${ignoredNow}` }),
  };
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

/** The name of a Pod up to its random characters. The index stays if a long name is cut. */
export function indexedPrefix(jobName: string, index: number): string {
  const suffix = `-${index}-`;
  return `${jobName.slice(0, MAX_PREFIX - suffix.length)}${suffix}`;
}

/**
 * The active Pods that must go: those without a valid index, all but one of each index, and more until there are
 * `atLeast`.
 */
export function surplusPods(job: Job, active: readonly Pod[], atLeast: number, isIndexed: boolean): Pod[] {
  const [surplus, left] = isIndexed ? splitByIndex(job, active) : [[], active];
  const more = atLeast - surplus.length;
  return more > 0 ? [...surplus, ...sortByProgress(left).slice(0, more)] : surplus;
}

function splitByIndex(job: Job, active: readonly Pod[]): [surplus: Pod[], left: Pod[]] {
  const byIndex = Map.groupBy(active, (pod) => currentIndex(pod, job));
  const outside = byIndex.get(undefined) ?? [];
  byIndex.delete(undefined);
  const ordered = [...byIndex.values()].map(sortByProgress);
  return [[outside, ...ordered.map((pods) => pods.slice(0, -1))].flat(), ordered.flatMap((pods) => pods.slice(-1))];
}

/**
 * The last failed Pod of each index that waits for its replacement. It keeps its finalizer until then, because the
 * failure count of the index is in its annotations.
 *
 * Upstream: getPodsWithDelayedDeletionPerIndex
 */
export function podsToReplace(
  job: Job,
  pods: readonly Pod[],
  { active, ended }: { readonly active: ReadonlySet<number>; readonly ended: readonly Indexes[] },
): Map<number, Pod> {
  const found = new Map<number, Pod>();
  for (const pod of pods) {
    const index = currentIndex(pod, job);
    if (index === undefined || !isTracked(pod) || !isFailed(pod, job)) continue;
    if (active.has(index) || ended.some((indexes) => indexes.has(index))) continue;
    const known = found.get(index);
    const isLater =
      known === undefined || (failuresBefore(known) <= failuresBefore(pod) && finishedMs(pod) >= finishedMs(known));
    if (isLater) found.set(index, pod);
  }
  return found;
}

/** Orders Pods by completion index, those without one first. */
export function byIndex(one: Pod, other: Pod): number {
  return (completionIndex(one) ?? -1) - (completionIndex(other) ?? -1);
}
