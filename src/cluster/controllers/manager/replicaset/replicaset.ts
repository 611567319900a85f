import { type LabelSelector, matchesLabels } from "../../../../base/api/label-selector.ts";
import { readLabelMap, readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { Pod, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { claimObjects } from "../../shared/claim.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { orphanKey, ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf, findController, possibleControllers } from "../../shared/owners.ts";
import { PodControl } from "../../shared/pod-control.ts";
import { isActive, isReady, isTerminating, nextAvailabilityMs, sortForDeletion } from "../../shared/pods.ts";
import { slowStart } from "../../shared/slow-start.ts";
import { nextStatus, type Observed } from "./replica-status.ts";

/** The differences between ReplicaSets and ReplicationControllers. */
interface Kind {
  readonly name: string;
  readonly component: string;
  readonly group: string;
  readonly plural: string;
  readonly selectorOf: (set: ReplicaSet) => LabelSelector | undefined;
  readonly countsTerminating: boolean;
}

const REPLICA_SETS: Kind = {
  name: "replicaset-controller",
  component: "replicaset-controller",
  group: "apps",
  plural: "replicasets",
  selectorOf: ({ spec }) => readSelectorObject(spec.selector),
  countsTerminating: true,
};

const REPLICATION_CONTROLLERS: Kind = {
  name: "replicationcontroller-controller",
  component: "replication-controller",
  group: "",
  plural: "replicationcontrollers",
  selectorOf: ({ spec }) => readLabelMap(spec.selector),
  countsTerminating: false,
};

/** Upstream: BurstReplicas. The most Pods that one sync creates or deletes. */
const BURST = 500;

/** replicaset-controller: keeps the number of Pods of every ReplicaSet at `spec.replicas`. */
export const replicaSets = (context: ManagerContext): Controller => replicas(context, REPLICA_SETS);
/** replicationcontroller-controller: the same for ReplicationControllers. */
export const replicationControllers = (context: ManagerContext): Controller =>
  replicas(context, REPLICATION_CONTROLLERS);

function replicas(context: ManagerContext, kind: Kind): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const {
    informer: sets,
    byNamespace: setsByNamespace,
    byOwner: setsByOwner,
  } = informers.of<ReplicaSet>(kind.group, kind.plural);
  const { informer: pods, byOwner: podsByOwner } = informers.of<Pod>("", "pods");
  const { resource } = sets;
  const recorder = new EventRecorder(context, kind.component);
  const control = new PodControl({ client, recorder, pods, ownerResource: resource });

  /** Adds the sets that a Pod concerns: its owner, or for an orphan those that could adopt it. */
  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      const previous = findController(sets, before);
      const owner = findController(sets, after);
      if (previous) queue.add(keyOf(previous));
      if (owner && after) {
        queue.add(keyOf(owner));
        const { minReadySeconds = 0 } = owner.spec;
        const isNewlyReady = before !== undefined && !isReady(before) && isReady(after);
        if (isNewlyReady && minReadySeconds > 0) queue.addAfter(keyOf(owner), minReadySeconds * 1000);
      } else if (after && controllerOf(after) === undefined && isActive(after)) {
        const candidates = setsByNamespace.get(after.metadata.namespace ?? "");
        for (const set of possibleControllers(candidates, kind.selectorOf, after)) queue.add(keyOf(set));
      }
    };

  /** The Pods of all sets with the same controller: those of a Deployment. */
  function* relatedPods(set: ReplicaSet): Generator<Pod> {
    const reference = controllerOf(set);
    const related = reference === undefined ? [] : setsByOwner.get(ownedKey(reference.uid));
    for (const one of related) yield* podsByOwner.get(ownedKey(one.metadata.uid));
  }

  const manage = async (set: ReplicaSet, active: readonly Pod[]): Promise<void> => {
    const surplus = active.length - (set.spec.replicas ?? 1);
    if (surplus < 0) {
      const template = set.spec.template ?? {};
      await slowStart(Math.min(-surplus, BURST), () => control.create(set, template));
    } else if (surplus > 0) {
      const count = Math.min(surplus, BURST);
      const isSome = count < active.length;
      const ordered = isSome ? sortForDeletion(active, relatedPods(set), clock.now()) : active;
      const results = await Promise.allSettled(ordered.slice(0, count).map((pod) => control.delete(set, pod)));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    }
  };

  const sync = async (key: string, queue: Queue): Promise<void> => {
    const set = sets.get(key);
    const selector = set && kind.selectorOf(set);
    if (set === undefined || selector === undefined) return;
    const { namespace, uid, deletionTimestamp } = set.metadata;
    const owned = [...podsByOwner.get(ownedKey(uid))];
    const candidates = [...owned, ...podsByOwner.get(orphanKey(namespace))].filter(isActive);
    const claim = { resources, client, ownerResource: resource, owner: set, selector, informer: pods };
    const active = await claimObjects(claim, candidates);
    let failure: Error | undefined;
    if (deletionTimestamp === undefined) {
      failure = await manage(set, active).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      );
    }
    const nowMs = clock.now();
    const isOwn = ({ metadata }: Pod) => matchesLabels(selector, metadata.labels);
    const terminating = kind.countsTerminating ? owned.filter((pod) => isTerminating(pod) && isOwn(pod)) : undefined;
    await updateStatus(set, { active, terminating, failure, nowMs });
    if (failure) throw failure;
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0) {
      const next = nextAvailabilityMs(active, minReadySeconds, nowMs);
      if (next !== undefined) queue.addAfter(key, next);
    }
  };

  const updateStatus = async (set: ReplicaSet, observed: Observed): Promise<void> => {
    const status = nextStatus(set, observed);
    if (status === undefined) return;
    const written = await client.update(resource, { ...set, status }, { subresource: "status" }).catch(unlessCode(404));
    if (written) await sets.sees(written.metadata.resourceVersion);
  };

  return loop({
    name: kind.name,
    workers: 5,
    gathers: true,
    clock,
    report,
    sources: [synced(sets), source(pods, observePod)],
    sync,
  });
}
