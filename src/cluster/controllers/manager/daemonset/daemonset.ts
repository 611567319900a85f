import { isDeepStrictEqual } from "node:util";
import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import type { ControllerRevision, DaemonSet, Pod } from "../../../../kinds/types/workloads.ts";
import { claimObjects } from "../../shared/claim.ts";
import type { Controller } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { orphanKey, ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf, findController, possibleControllers } from "../../shared/owners.ts";
import { PodControl } from "../../shared/pod-control.ts";
import { nextAvailabilityMs, nodeNameOf } from "../../shared/pods.ts";
import { RevisionHistory } from "../../shared/revisions.ts";
import { slowStart } from "../../shared/slow-start.ts";
import { DaemonHistory, hashOf } from "./daemon-history.ts";
import { byNode, templateFor } from "./daemon-pods.ts";
import { countedStatus, isSameStatus } from "./daemon-set-status.ts";
import { FailedPodsBackoff } from "./failed-pods-backoff.ts";
import { type Placement, placementRule } from "./placement.ts";
import { type Observed, type Plan, planPods } from "./plan.ts";
import { planUpdate } from "./rolling-update.ts";

const NAME = "daemonset-controller";
/** Upstream: BurstReplicas. The most Pods that one step creates or deletes. */
const BURST = 250;

/** daemonset-controller: runs one Pod of every DaemonSet on each node that it is meant for. */
export function daemonSets(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: sets, byNamespace } = informers.of<DaemonSet>("apps", "daemonsets");
  const { informer: pods, byOwner: podsByOwner } = informers.of<Pod>("", "pods");
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const podsByNode = pods.index(nodeNameOf);
  const { resource } = sets;
  const recorder = new EventRecorder(context, NAME);
  const control = new PodControl({ client, recorder, pods, ownerResource: resource });
  const history = new RevisionHistory(context, resource);
  const revisions = new DaemonHistory({ client, sets, pods, history });
  const backoff = new FailedPodsBackoff();

  const selectorOf = ({ spec }: DaemonSet) => readSelectorObject(spec.selector);

  /** Adds the sets that could adopt an orphan. */
  const addCandidates = (queue: Queue, orphan: Pod | ControllerRevision): void => {
    const candidates = byNamespace.get(orphan.metadata.namespace ?? "");
    for (const set of possibleControllers(candidates, selectorOf, orphan)) queue.add(keyOf(set));
  };

  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      const previous = findController(sets, before);
      const owner = findController(sets, after);
      if (previous) queue.add(keyOf(previous));
      if (owner) queue.add(keyOf(owner));
      const isOrphan = after && controllerOf(after) === undefined && after.metadata.deletionTimestamp === undefined;
      if (isOrphan) addCandidates(queue, after);
    };

  /** A revision that the controller itself has created needs no sync. */
  const observeRevision =
    (queue: Queue): Observer<ControllerRevision> =>
    (before, after) => {
      const owners = before === undefined ? [] : [findController(sets, before), findController(sets, after)];
      for (const owner of owners) if (owner) queue.add(keyOf(owner));
      if (after && controllerOf(after) === undefined) addCandidates(queue, after);
    };

  /** Adds the sets whose Pods the change of a node concerns. */
  const observeNode =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      if (after === undefined || (before && isSameForPlacement(before, after))) return;
      const owners = new Set<string | undefined>();
      for (const pod of podsByNode.get(after.metadata.name ?? "")) owners.add(controllerOf(pod)?.uid);
      for (const set of sets.all()) {
        const { shouldRun, shouldContinue } = placementRule(set.spec.template?.spec ?? {})(after);
        const hasPod = owners.has(set.metadata.uid);
        const isMisscheduled = (set.status?.numberMisscheduled ?? 0) > 0;
        if (hasPod ? !shouldContinue || isMisscheduled : shouldRun) queue.add(keyOf(set));
      }
    };

  const claimPods = (set: DaemonSet, selector: LabelSelector): Promise<Pod[]> => {
    const { namespace, uid } = set.metadata;
    const candidates = [...podsByOwner.get(ownedKey(uid)), ...podsByOwner.get(orphanKey(namespace))];
    return claimObjects(
      { resources, client, ownerResource: resource, owner: set, selector, informer: pods },
      candidates,
    );
  };

  /** Creates Pods, then deletes others, also if a Pod could not be created. */
  const carryOut = async ({ set, hash }: Observed, plan: Plan): Promise<void> => {
    const create = (index: number) => control.create(set, templateFor(set, hash, plan.create[index] ?? ""));
    const [created] = await Promise.allSettled([slowStart(Math.min(plan.create.length, BURST), create)]);
    const deleted = await Promise.allSettled(plan.delete.slice(0, BURST).map((pod) => control.delete(set, pod)));
    const failed = [created, ...deleted].find((result) => result?.status === "rejected");
    if (failed) throw failed.reason;
  };

  const updateStatus = async (observed: Observed, key: string, queue: Queue): Promise<void> => {
    const { set } = observed;
    const status = countedStatus(observed);
    if (!isSameStatus(set, status)) {
      const written = await client.update(resource, { ...set, status }, { subresource: "status" });
      await sets.sees(written.metadata.resourceVersion);
    }
    const { minReadySeconds = 0 } = set.spec;
    const nextMs = nextAvailabilityMs([...observed.pods.values()].flat(), minReadySeconds, observed.nowMs);
    if (nextMs !== undefined) queue.addAfter(key, nextMs);
  };

  const sync = async (key: string, queue: Queue): Promise<void> => {
    const set = sets.get(key);
    const selector = set && selectorOf(set);
    if (set === undefined || selector === undefined) return;
    if (selector.length === 0) {
      const message = "This daemon set is selecting all pods. A non-empty selector is required.";
      recorder.record(resource, set, "Warning", "SelectingAll", message);
      return;
    }
    if (set.metadata.deletionTimestamp !== undefined) return;
    const { current, old } = await revisions.find(set, selector, () => claimPods(set, selector));
    const hash = hashOf(current);
    const placements = placementsOf(set, nodes.all());
    const observe = async (): Promise<Observed> => {
      const owned = await claimPods(set, selector);
      return { set, hash, placements, pods: byNode(owned), nowMs: clock.now() };
    };
    const syncAfter = (delayMs: number) => queue.addAfter(key, delayMs);
    const step = async (): Promise<void> => {
      const before = await observe();
      await carryOut(before, planPods({ recorder, resource, backoff, syncAfter }, before));
      if (set.spec.updateStrategy?.type === "RollingUpdate") {
        const after = await observe();
        await carryOut(after, planUpdate(after));
      }
      await revisions.cleanUp(set, old, await claimPods(set, selector));
    };
    const failure = await step().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    await updateStatus(await observe(), key, queue);
    if (failure) throw failure.error;
  };

  return loop({
    name: NAME,
    workers: 2,
    gathers: true,
    clock,
    report,
    sources: [
      synced(sets),
      source(pods, observePod),
      source(history.informer, observeRevision),
      source(nodes, observeNode),
    ],
    sync,
  });
}

function placementsOf({ spec }: DaemonSet, nodes: Iterable<Node>): Map<string, Placement> {
  const rule = placementRule(spec.template?.spec ?? {});
  const placements = new Map<string, Placement>();
  for (const node of nodes) placements.set(node.metadata.name ?? "", rule(node));
  return placements;
}

function isSameForPlacement(one: Node, other: Node): boolean {
  return (
    isDeepStrictEqual(one.metadata.labels ?? {}, other.metadata.labels ?? {}) &&
    isDeepStrictEqual(one.spec?.taints ?? [], other.spec?.taints ?? [])
  );
}
