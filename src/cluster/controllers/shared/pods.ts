import { getMember } from "../../../base/util/members.ts";
import type { ContainerStatus, PodCondition } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { compare } from "./order.ts";

/** Whether a Pod runs or may run in the future. */
export function isActive({ metadata, status }: Pod): boolean {
  return !hasFinished({ status }) && metadata.deletionTimestamp === undefined;
}

/** Whether a Pod is being deleted and still runs. */
export function isTerminating({ metadata, status }: Pod): boolean {
  return !hasFinished({ status }) && metadata.deletionTimestamp !== undefined;
}

/** Whether no container of a Pod will run again. */
export function hasFinished({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Whether no container of a Pod runs any more. Upstream: IsPodTerminated of pkg/volume/util */
export function isTerminated({ metadata, status = {} }: Pod): boolean {
  if (hasFinished({ status })) return true;
  const statuses = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses];
  const isRunning = ({ state }: ContainerStatus) => state?.terminated === undefined && state?.waiting === undefined;
  return metadata.deletionTimestamp !== undefined && !statuses.some((some) => some?.some(isRunning));
}

/** Key of the index of Pods by their node. */
export const nodeNameOf = ({ spec }: Pod): string[] => (spec?.nodeName ? [spec.nodeName] : []);

/** The condition of a Pod with this type. */
export function conditionOf({ status }: Pod, type: string): PodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether the condition Ready is true. */
export function isReady(pod: Pod): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}

/** Whether a Pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySinceMs(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= nowMs;
}

function readySinceMs(pod: Pod): number | undefined {
  return timeOf(conditionOf(pod, "Ready")?.lastTransitionTime);
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : Date.parse(text);
}

/** Milliseconds until the next of these Pods becomes available. Undefined if none is waiting for that. */
export function nextAvailabilityMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  let next: number | undefined;
  for (const pod of pods) {
    const since = isReady(pod) ? readySinceMs(pod) : undefined;
    const rest = since === undefined ? 0 : since + minReadySeconds * 1000 - nowMs;
    if (rest > 0 && (next === undefined || rest < next)) next = rest;
  }
  return next;
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/**
 * The order in which a controller deletes surplus Pods. `related`: Pods of the same application, because a node with
 * many of them can spare one best.
 *
 * Upstream: ActivePodsWithRanks of pkg/controller
 */
export function sortForDeletion(pods: readonly Pod[], related: Iterable<Pod>, nowMs: number): Pod[] {
  const perNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec?.nodeName ?? "";
    if (isActive(pod)) perNode.set(node, (perNode.get(node) ?? 0) + 1);
  }
  const rankOf = ({ spec }: Pod) => perNode.get(spec?.nodeName ?? "") ?? 0;
  return sorted(pods, [
    ...byProgress,
    byNumber(deletionCost),
    byNumber((pod) => -rankOf(pod)),
    (one, other) => (isReady(one) ? byAge(readySinceMs, nowMs)(one, other) : 0),
    byRestarts,
    byAge(createdMs, nowMs),
  ]);
}

/** The order in which a Job deletes surplus Pods: the least progress first. Upstream: ActivePods of pkg/controller */
export function sortByProgress(pods: readonly Pod[]): Pod[] {
  const byYouth = (timeOf: (pod: Pod) => number | undefined) =>
    byNumber((pod) => -(timeOf(pod) ?? Number.POSITIVE_INFINITY));
  return sorted(pods, [
    ...byProgress,
    (one, other) => (isReady(one) ? byYouth(readySinceMs)(one, other) : 0),
    byRestarts,
    byYouth(createdMs),
  ]);
}

type Comparison = (one: Pod, other: Pod) => number;

const createdMs = ({ metadata }: Pod) => timeOf(metadata.creationTimestamp);

const byProgress: readonly Comparison[] = [
  byNumber((pod) => ((pod.spec?.nodeName ?? "") === "" ? 0 : 1)),
  byNumber(({ status }) => getMember(PHASES, status?.phase ?? "") ?? 0),
  byNumber((pod) => (isReady(pod) ? 1 : 0)),
];

function sorted(pods: readonly Pod[], comparisons: readonly Comparison[]): Pod[] {
  return [...pods].sort((one, other) => {
    for (const byAspect of comparisons) {
      const order = byAspect(one, other);
      if (order !== 0) return order;
    }
    return 0;
  });
}

function byNumber(numberOf: (pod: Pod) => number): Comparison {
  return (one, other) => {
    const [number, otherNumber] = [numberOf(one), numberOf(other)];
    return number === otherNumber ? 0 : number - otherNumber;
  };
}

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? "";
  const cost = /^(0|-\d+|[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return Math.abs(cost) < 2 ** 31 ? cost : 0;
}

/**
 * Younger before older. Ages are compared by order of magnitude, so that not only the youngest Pods are deleted; uids
 * decide among equals.
 */
function byAge(timeOf: (pod: Pod) => number | undefined, nowMs: number): Comparison {
  return (one, other) => {
    const [time, otherTime] = [timeOf(one), timeOf(other)];
    if (time === otherTime) return 0;
    if (time === undefined || otherTime === undefined) return time === undefined ? -1 : 1;
    const difference = magnitude(nowMs - time) - magnitude(nowMs - otherTime);
    return difference === 0 ? compare(one.metadata.uid, other.metadata.uid) : difference;
  };
}

/** Upstream: logarithmicRankDiff, which takes the logarithm to base 2 of nanoseconds. */
function magnitude(ageMs: number): number {
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * 1e6)) : -1;
}

/** Pods with more restarts first: of running sidecars, then of containers. */
function byRestarts(one: Pod, other: Pod): number {
  const [regular, sidecars] = maxRestarts(one);
  const [otherRegular, otherSidecars] = maxRestarts(other);
  return regular === otherRegular ? otherSidecars - sidecars : otherRegular - regular;
}

function maxRestarts({ spec, status }: Pod): [regular: number, sidecars: number] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const names = new Set(sidecars.map(({ name }) => name));
  const ofSidecars = (status?.initContainerStatuses ?? []).filter(({ name }) => names.has(name));
  return [maxCount(status?.containerStatuses ?? []), maxCount(ofSidecars)];
}

function maxCount(statuses: readonly ContainerStatus[]): number {
  return statuses.reduce((max, { restartCount }) => Math.max(max, restartCount ?? 0), 0);
}
