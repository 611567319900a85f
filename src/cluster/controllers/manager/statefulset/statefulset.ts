import { matchesLabels } from "../../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { ControllerRevision, Pod, StatefulSet, StatefulSetStatus } from "../../../../kinds/types/workloads.ts";
import { claimObjects } from "../../shared/claim.ts";
import { type Controller, isNamespaceTerminating } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { orphanKey, ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source, synced, unobserved } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf, findController, possibleControllers } from "../../shared/owners.ts";
import { nextAvailabilityMs } from "../../shared/pods.ts";
import { RevisionHistory } from "../../shared/revisions.ts";
import { ClaimControl } from "./claim-control.ts";
import { isMember } from "./identity.ts";
import { Rollout } from "./rollout.ts";
import { StatefulPodControl } from "./stateful-pod-control.ts";
import { StatefulRevisions } from "./stateful-revisions.ts";
import { completedStatus, isSameStatus } from "./stateful-set-status.ts";

const NAME = "statefulset-controller";

/** statefulset-controller: creates Pods with fixed names and their own volumes, and updates them one after the other. */
export function statefulSets(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: sets, byNamespace } = informers.of<StatefulSet>("apps", "statefulsets");
  const { informer: pods, byOwner: podsByOwner } = informers.of<Pod>("", "pods");
  const { informer: claimInformer } = informers.of<KubeObject>("", "persistentvolumeclaims");
  const setResource = sets.resource;
  const recorder = new EventRecorder(context, NAME);
  const history = new RevisionHistory(context, setResource);
  const revisions = new StatefulRevisions(resources, setResource, history);
  const podResource = pods.resource;
  const claims = new ClaimControl({ client, recorder, claims: claimInformer, setResource, podResource });
  const control = new StatefulPodControl({ client, recorder, pods, claims, setResource });

  const selectorOf = ({ spec }: StatefulSet) => readSelectorObject(spec.selector);

  /** Adds the sets that a Pod concerns: its owner, or for an orphan those that could adopt it. */
  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      const previous = findController(sets, before);
      const owner = findController(sets, after);
      if (previous) queue.add(keyOf(previous));
      if (owner) queue.add(keyOf(owner));
      const isOrphan = after && controllerOf(after) === undefined && after.metadata.deletionTimestamp === undefined;
      if (!isOrphan) return;
      const candidates = byNamespace.get(after.metadata.namespace ?? "");
      for (const set of possibleControllers(candidates, selectorOf, after)) queue.add(keyOf(set));
    };

  const writeStatus = async (set: StatefulSet, next: StatefulSetStatus): Promise<StatefulSetStatus> => {
    const status = completedStatus(set, next);
    if (isSameStatus(set.status, status)) return status;
    const written = await client.update(setResource, { ...set, status }, { subresource: "status" });
    await sets.sees(written.metadata.resourceVersion);
    return status;
  };

  /** The gate StatefulSetRecreateStrategy is off, but the API server may have it on. */
  const refuseRecreate = (set: StatefulSet): void => {
    if (set.spec.updateStrategy?.type !== "Recreate") return;
    const message = `statefulset ${keyOf(set)} uses Recreate strategy but feature gate StatefulSetRecreateStrategy is disabled`;
    recorder.record(setResource, set, "Warning", "UnknownStrategy", message);
    throw new Error(message);
  };

  /** Takes one step and writes the status, also if the step fails. */
  const step = async (set: StatefulSet, owned: readonly Pod[], known: readonly ControllerRevision[], nowMs: number) => {
    const found = await revisions.find(set, known);
    refuseRecreate(set);
    const currentSet = revisions.apply(set, found.current);
    const updateSet = revisions.apply(set, found.update);
    const observed = { set, currentSet, updateSet, revisions: found, pods: owned, nowMs };
    const rollout = new Rollout({ control, claims, setResource }, observed);
    const failure = await rollout.step().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const status = await writeStatus(set, rollout.status);
    await revisions.truncate(set, known, found, owned);
    if (failure) throw failure.error;
    return status;
  };

  const sync = async (key: string, queue: Queue): Promise<void> => {
    const set = sets.get(key);
    const selector = set && selectorOf(set);
    if (set === undefined || selector === undefined) return;
    const { namespace, uid } = set.metadata;
    const known = await history.claim(set, selector, ({ metadata }) => matchesLabels(selector, metadata.labels));
    const candidates = [...podsByOwner.get(ownedKey(uid)), ...podsByOwner.get(orphanKey(namespace))];
    const accepts = (pod: Pod) => isMember(set, pod);
    const claim = { resources, client, ownerResource: setResource, owner: set, selector, accepts, informer: pods };
    const owned = await claimObjects(claim, candidates);
    const nowMs = clock.now();
    const { readyReplicas, availableReplicas } = await step(set, owned, known, nowMs);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0 && readyReplicas !== availableReplicas) {
      queue.addAfter(key, nextAvailabilityMs(owned, minReadySeconds, nowMs) ?? minReadySeconds * 1000);
    }
  };

  return loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [synced(sets), source(pods, observePod), unobserved(history.informer), unobserved(claimInformer)],
    sync: (key, queue) =>
      sync(key, queue).catch((error: unknown) => {
        // Nothing can be created there any more, and the set will be deleted as well.
        const isGoing = error instanceof Error && [error, error.cause].some(isNamespaceTerminating);
        if (!isGoing) throw error;
      }),
  });
}
