import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { Deployment, Pod, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { claimObjects } from "../../shared/claim.ts";
import type { Controller } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { orphanKey, ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf, findController, possibleControllers } from "../../shared/owners.ts";
import type { Sets } from "./deployment-status.ts";
import { Rollout } from "./rollout.ts";

const NAME = "deployment-controller";

/** deployment-controller: creates a ReplicaSet per template of a Deployment, and moves its Pods to the newest one. */
export function deployments(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: all, byNamespace } = informers.of<Deployment>("apps", "deployments");
  const { informer: sets, byOwner: setsByOwner } = informers.of<ReplicaSet>("apps", "replicasets");
  const { informer: pods, byOwner: podsByOwner } = informers.of<Pod>("", "pods");
  const { resource } = all;
  const recorder = new EventRecorder(context, NAME);

  const selectorOf = ({ spec }: Deployment) => readSelectorObject(spec.selector);

  /** Adds the Deployments that a ReplicaSet concerns: its owner, or for an orphan those that could adopt it. */
  const observeSet =
    (queue: Queue): Observer<ReplicaSet> =>
    (before, after) => {
      for (const owner of [findController(all, before), findController(all, after)]) if (owner) queue.add(keyOf(owner));
      if (after === undefined || controllerOf(after) !== undefined) return;
      const candidates = byNamespace.get(after.metadata.namespace ?? "");
      for (const deployment of possibleControllers(candidates, selectorOf, after)) queue.add(keyOf(deployment));
    };

  /** A Deployment with the strategy Recreate waits until its old Pods are gone. */
  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      if (before === undefined || after !== undefined) return;
      const deployment = findController(all, findController(sets, before));
      if (deployment?.spec.strategy?.type === "Recreate") queue.add(keyOf(deployment));
    };

  const hasOldPods = ({ old }: Sets): boolean => {
    if (old.some(({ status }) => (status?.replicas ?? 0) > 0)) return true;
    const podsOfOld = old.flatMap(({ metadata }) => [...podsByOwner.get(ownedKey(metadata.uid))]);
    return podsOfOld.some(({ status }) => status?.phase !== "Failed" && status?.phase !== "Succeeded");
  };

  const rollout = { client, recorder, deployments: all, sets, now: () => clock.now(), hasOldPods };

  return loop({
    name: NAME,
    workers: 5,
    gathers: true,
    clock,
    report,
    sources: [synced(all), source(sets, observeSet), source(pods, observePod)],
    async sync(key, queue) {
      const deployment = all.get(key);
      const selector = deployment && selectorOf(deployment);
      if (deployment === undefined || selector === undefined) return;
      const { namespace, uid } = deployment.metadata;
      const candidates = [...setsByOwner.get(ownedKey(uid)), ...setsByOwner.get(orphanKey(namespace))];
      const claim = { resources, client, ownerResource: resource, owner: deployment, selector, informer: sets };
      const owned = await claimObjects(claim, candidates);
      const againMs = await new Rollout(rollout, deployment, owned).step();
      if (againMs !== undefined) queue.addAfter(key, againMs);
    },
  });
}
