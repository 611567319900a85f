import { addAll } from "../../../../base/util/add-all.ts";
import type { DaemonSet, Pod } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import { isAvailable, isReady } from "../../shared/pods.ts";
import { bySeniority, HASH_LABEL } from "./daemon-pods.ts";
import type { FailedPodsBackoff } from "./failed-pods-backoff.ts";
import { allowsSurge } from "./limits.ts";
import type { Placement } from "./placement.ts";

/** What a sync does: on which nodes it creates Pods, and which Pods it deletes. */
export interface Plan {
  readonly create: string[];
  readonly delete: Pod[];
}

/** A DaemonSet, the nodes and its Pods at one time. */
export interface Observed {
  readonly set: DaemonSet;
  /** Hash of the current template. */
  readonly hash: string;
  readonly placements: ReadonlyMap<string, Placement>;
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly nowMs: number;
}

/** What `planPods` works with. */
export interface PlanContext {
  readonly recorder: EventRecorder;
  readonly resource: ServedResource;
  readonly backoff: FailedPodsBackoff;
  /** Syncs the set again after a delay. */
  readonly syncAfter: (delayMs: number) => void;
}

/** One Pod on each node that should have one. Upstream: podsShouldBeOnNode */
export function planPods(context: PlanContext, observed: Observed): Plan {
  const { placements, pods } = observed;
  const plan: Plan = { create: [], delete: [] };
  for (const [node, { shouldRun, shouldContinue }] of placements) {
    const here = pods.get(node);
    if (shouldRun && here === undefined) plan.create.push(node);
    else if (shouldContinue) keepOne(context, observed, { node, shouldRun, pods: here ?? [] }, plan);
    else addAll(plan.delete, (here ?? []).filter(isStaying));
  }
  // The scheduler never binds them, so the pod garbage collector does not delete them.
  for (const [node, here] of pods) {
    if (!placements.has(node))
      addAll(
        plan.delete,
        here.filter(({ spec }) => (spec?.nodeName ?? "") === ""),
      );
  }
  return plan;
}

interface OnNode {
  readonly node: string;
  readonly shouldRun: boolean;
  readonly pods: readonly Pod[];
}

const isStaying = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined;

function keepOne(context: PlanContext, observed: Observed, { node, shouldRun, pods }: OnNode, plan: Plan): void {
  const running = pods.filter(isStaying).filter((pod) => {
    const isEnded = pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded";
    if (isEnded && isReplaced(context, observed, pod, node)) plan.delete.push(pod);
    return !isEnded;
  });
  running.sort(bySeniority);
  if (!allowsSurge(observed.set)) addAll(plan.delete, running.slice(1));
  else if (running.length === 0 && shouldRun) plan.create.push(node);
  else if (running.length > 1) addAll(plan.delete, surplus(observed, running));
}

/** Records that a Pod has ended. Returns whether it is deleted now. */
function isReplaced(context: PlanContext, { set, nowMs }: Observed, pod: Pod, node: string): boolean {
  const { recorder, resource, backoff, syncAfter } = context;
  const where = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
  if (pod.status?.phase === "Succeeded") {
    const message = `Found succeeded ${where}, will try to delete it`;
    recorder.record(resource, set, "Normal", "SucceededDaemonPod", message);
    return true;
  }
  const key = `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`;
  const delayMs = backoff.wait(key, nowMs);
  if (delayMs !== undefined) {
    syncAfter(delayMs);
    return false;
  }
  recorder.record(resource, set, "Warning", "FailedDaemonPod", `Found failed ${where}, will try to kill it`);
  return true;
}

/** All but the oldest new Pod, and the oldest old one while it is ready and the new one is not available. */
function surplus({ set, hash, nowMs }: Observed, running: readonly Pod[]): Pod[] {
  const isNew = ({ metadata }: Pod) => (metadata.labels?.[HASH_LABEL] ?? "") === hash;
  const newest = running.find(isNew);
  const old = running.find((pod) => !isNew(pod));
  const deleted = running.filter((pod) => pod !== newest && pod !== old);
  if (newest && old) {
    const isOver = !isReady(old) || isAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs);
    if (isOver) deleted.push(old);
  }
  return deleted;
}
