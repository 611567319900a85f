import type { ClaimCondition, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import type { Controller } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { claimKeysOf, usesClaim } from "../../shared/pod-claims.ts";
import { isTerminated } from "../../shared/pods.ts";
import { Protection } from "../../shared/protection.ts";

/** Compat: the condition of the gate PersistentVolumeClaimUnusedSinceTime. */
const UNUSED = "Unused";
const USED = { status: "False", reason: "PodUsingPVC", message: "A pod is currently referencing this PVC" };
const NOT_USED = { status: "True", reason: "NoPodsUsingPVC", message: "No pods are currently referencing this PVC" };

type Usage = (pod: Pod, claim: PersistentVolumeClaim) => boolean;

/** A kubelet does not start a Pod with a deleted claim, so only Pods with a node count. */
const preventsDeletion: Usage = (pod, claim) =>
  (pod.spec?.nodeName ?? "") !== "" && usesClaim(pod, claim, !isShutDown(pod));

const refersTo: Usage = (pod, claim) => !isTerminated(pod) && usesClaim(pod, claim, true);

/** Whether a Pod only waits for its finalizers. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** What the usage of claims by a Pod depends on. */
function usageOf(pod: Pod): string {
  return [pod.spec?.nodeName ?? "", isTerminated(pod), isShutDown(pod)].join();
}

const unusedCondition = ({ status }: PersistentVolumeClaim): ClaimCondition | undefined =>
  status?.conditions?.find(({ type }) => type === UNUSED);

/**
 * persistentvolumeclaim-protection-controller: keeps deleted PersistentVolumeClaims until no Pod uses them, and sets
 * their condition Unused.
 */
export function claimProtection({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const podsByClaim = pods.index(claimKeysOf);
  const protection = new Protection({ client, informer: claims, finalizer: "kubernetes.io/pvc-protection" });

  const isUsed = (claim: PersistentVolumeClaim, usage: Usage): boolean =>
    [...podsByClaim.get(keyOf(claim))].some((pod) => usage(pod, claim));

  /** Also sees a Pod that was created just before the claim was deleted. */
  const isUsedNow = async (claim: PersistentVolumeClaim): Promise<boolean> => {
    if (isUsed(claim, preventsDeletion)) return true;
    await pods.catchUp();
    return isUsed(claim, preventsDeletion);
  };

  const setUnused = async (claim: PersistentVolumeClaim): Promise<void> => {
    const { deletionTimestamp } = claim.metadata;
    if (deletionTimestamp !== undefined || claim.status?.phase !== "Bound") return;
    const { status, reason, message } = isUsed(claim, refersTo) ? USED : NOT_USED;
    const before = unusedCondition(claim);
    if (before?.status === status) return;
    const condition = { type: UNUSED, status, lastTransitionTime: printTime(clock.now()), reason, message };
    const conditions = claim.status.conditions ?? [];
    const next = before ? conditions.map((one) => (one === before ? condition : one)) : [...conditions, condition];
    const changed = { ...claim, status: { ...claim.status, conditions: next } };
    const written = await client.update(claims.resource, changed, { subresource: "status" });
    await claims.sees(written.metadata.resourceVersion);
  };

  const observePod =
    (queue: Queue) =>
    (before: Pod | undefined, after: Pod | undefined): void => {
      if (before && after && usageOf(before) === usageOf(after)) return;
      const pod = after ?? before;
      if (pod) for (const key of claimKeysOf(pod)) queue.add(key);
    };

  return loop({
    name: "persistentvolumeclaim-protection-controller",
    workers: 1,
    clock,
    report,
    sources: [
      source(claims, (queue) => (_, after) => {
        if (after && (unusedCondition(after) === undefined || protection.concerns(after))) queue.add(keyOf(after));
      }),
      source(pods, observePod),
    ],
    async sync(key) {
      const known = claims.get(key);
      if (known) await setUnused(known);
      const claim = claims.get(key);
      if (claim) await protection.sync(claim, () => isUsedNow(claim));
    },
  });
}
