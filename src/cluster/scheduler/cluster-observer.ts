import type { KubeObject } from "../../base/api/object.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { hasFinished } from "../controllers/shared/pods.ts";
import { nodeEvents, type OtherResource, podEvents } from "./cluster-events.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { NominatedPods } from "./nominated-pods.ts";
import { podInfoOf } from "./pod-info.ts";
import type { SchedulingQueue } from "./queue.ts";

/** What changes of objects change in the scheduler. Upstream: eventhandlers.go */
export class ClusterObserver {
  readonly #cluster: ClusterState;
  readonly #queue: SchedulingQueue;
  readonly #nominated: NominatedPods;
  readonly #isResponsible: (pod: Pod) => boolean;

  constructor(
    cluster: ClusterState,
    queue: SchedulingQueue,
    nominated: NominatedPods,
    isResponsible: (pod: Pod) => boolean,
  ) {
    this.#cluster = cluster;
    this.#queue = queue;
    this.#nominated = nominated;
    this.#isResponsible = isResponsible;
  }

  node(before: Node | undefined, after: Node | undefined): void {
    if (after === undefined) {
      this.#queue.changed({ resource: "Node", action: "Delete" }, before, undefined);
      this.#cluster.removeNode(before?.metadata.name ?? "");
      return;
    }
    this.#cluster.setNode(after);
    if (before === undefined) this.#queue.changed({ resource: "Node", action: "Add" }, undefined, after);
    else for (const event of nodeEvents(before, after)) this.#queue.changed(event, before, after);
  }

  /** A Pod that has finished counts as deleted. */
  pod(before: Pod | undefined, after: Pod | undefined): void {
    const old = before && !hasFinished(before) ? before : undefined;
    const now = after && !hasFinished(after) ? after : undefined;
    if (now === undefined) {
      if (old) this.#podDeleted(old);
    } else if (hasNode(now)) {
      if (old && hasNode(old)) this.#assignedPodChanged(old, now);
      else this.#podAssigned(old, now);
    } else if (this.#isResponsible(now)) {
      if (old === undefined) this.#podAdded(now);
      else this.#waitingPodChanged(old, now);
    }
  }

  other(resource: OtherResource, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const action = before === undefined ? "Add" : after === undefined ? "Delete" : "Update";
    this.#queue.changed({ resource, action }, before, after);
  }

  #podAdded(pod: Pod): void {
    this.#nominate(undefined, pod);
    this.#queue.add(pod);
  }

  #waitingPodChanged(before: Pod, after: Pod): void {
    const { uid } = podInfoOf(after);
    if (this.#cluster.isAssumed(uid)) {
      if (after.metadata.deletionTimestamp !== undefined) this.#forgetAssumed(uid);
      return;
    }
    this.#nominate(before, after);
    this.#queue.update(before, after);
    const { nominatedNodeName } = before.status ?? {};
    if (nominatedNodeName && nominatedNodeName !== after.status?.nominatedNodeName) this.#nominationEnded(before);
  }

  #podAssigned(before: Pod | undefined, after: Pod): void {
    const { uid } = podInfoOf(after);
    this.#cluster.setPod(after);
    this.#nominated.delete(uid);
    if (before !== undefined) this.#queue.delete(uid);
    this.#queue.changed({ resource: "AssignedPod", action: "Add" }, undefined, after);
  }

  #assignedPodChanged(before: Pod, after: Pod): void {
    this.#cluster.setPod(after);
    for (const event of podEvents("AssignedPod", before, after)) this.#queue.changed(event, before, after);
  }

  #podDeleted(pod: Pod): void {
    const { uid } = podInfoOf(pod);
    this.#nominated.delete(uid);
    this.#queue.delete(uid);
    if (hasNode(pod)) {
      this.#cluster.removePod(uid);
      this.#queue.changed({ resource: "AssignedPod", action: "Delete" }, pod, undefined);
    } else if (this.#cluster.isAssumed(uid)) this.#forgetAssumed(uid);
    else if (pod.status?.nominatedNodeName) this.#nominationEnded(pod);
  }

  /** A Pod is deleted while it is being bound. */
  #forgetAssumed(uid: string): void {
    const placed = this.#cluster.placed(uid);
    this.#cluster.removePod(uid);
    if (placed) this.#queue.changed({ resource: "AssignedPod", action: "Delete" }, placed.pod, undefined);
  }

  /** Pods of the same or a lower priority had to leave room for this one. */
  #nominationEnded(pod: Pod): void {
    const { priority } = podInfoOf(pod);
    const event = { resource: "AssignedPod", action: "Delete" } as const;
    this.#queue.changed(event, pod, undefined, ({ info }) => info.priority <= priority);
  }

  /** Upstream: UpdateNominatedPod */
  #nominate(before: Pod | undefined, after: Pod): void {
    const info = podInfoOf(after);
    const nodeName = after.status?.nominatedNodeName;
    // The node may be nominated in memory already, while the write is on its way.
    const isOnItsWay = !before?.status?.nominatedNodeName && this.#nominated.nodeOf(info.uid) !== undefined;
    if (nodeName) this.#nominated.set(info, nodeName);
    else if (!isOnItsWay) this.#nominated.delete(info.uid);
  }
}

const hasNode = ({ spec }: Pod) => Boolean(spec?.nodeName);
