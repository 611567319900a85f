import type { Node } from "../../../../kinds/types/node.ts";
import type { PodStatus } from "../../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { disruptedStatus, patchPodStatus } from "../../shared/disruption.ts";
import { readFresh } from "../../shared/fresh.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { isNodeReady } from "../../shared/nodes.ts";
import { byCreation } from "../../shared/order.ts";
import { hasFinished, nodeNameOf } from "../../shared/pods.ts";

const NAME = "pod-garbage-collector-controller";
/** Upstream: the default of --terminated-pod-gc-threshold. */
const MAX_FINISHED = 12_500;
/** Upstream: gcCheckPeriod and quarantineTime. */
const PERIOD_MS = 20_000;
const QUARANTINE_MS = 40_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

/** Keys of the queue that stand neither for a node (`name`) nor for a Pod (`namespace/name`). */
const FINISHED = "/finished";
const finishedKey = (pod: Pod): string[] => (hasFinished(pod) ? [FINISHED] : []);

/**
 * pod-garbage-collector-controller: deletes Pods that no kubelet will end: those of nodes that are gone or out of
 * service, and those that are deleted before they have a node. Of finished Pods it keeps the newest.
 *
 * Differs: Upstream looks for them every 20 seconds. Here the change that makes a Pod superfluous leads to it.
 */
export function podGarbageCollector(context: ManagerContext, maxFinished = MAX_FINISHED): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const podsByNode = pods.index(nodeNameOf);
  const finishedPods = pods.index(finishedKey);
  let finishedCount = 0;

  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      finishedCount += Number(after !== undefined && hasFinished(after));
      finishedCount -= Number(before !== undefined && hasFinished(before));
      if (finishedCount > maxFinished) queue.addAfter(FINISHED, PERIOD_MS);
      if (after === undefined) return;
      const { nodeName = "" } = after.spec ?? {};
      if (nodeName !== "" && nodes.get(nodeName) === undefined) queue.addAfter(nodeName, QUARANTINE_MS);
      if (isAbandoned(after)) queue.add(keyOf(after));
    };

  const observeNode =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      const { name = "" } = (after ?? before)?.metadata ?? {};
      if (after === undefined) queue.addAfter(name, QUARANTINE_MS);
      else if (isOutOfService(after)) {
        for (const pod of podsByNode.get(name)) if (isAbandoned(pod)) queue.add(keyOf(pod));
      }
    };

  /** Whether a Pod is being deleted and no kubelet ends it. */
  const isAbandoned = ({ metadata, spec, status }: Pod): boolean => {
    if (metadata.deletionTimestamp === undefined) return false;
    // Only a finalizer keeps it.
    if (metadata.deletionGracePeriodSeconds === 0 && hasFinished({ status })) return false;
    const { nodeName = "" } = spec ?? {};
    const node = nodes.get(nodeName);
    return nodeName === "" || (node !== undefined && isOutOfService(node));
  };

  /** Upstream: markFailedAndDeletePodWithCondition. A Pod that has not ended fails. */
  const collect = async (pod: Pod, status: PodStatus = {}): Promise<void> => {
    const { namespace = "", name = "", generation } = pod.metadata;
    const failed = { phase: "Failed", ...(generation !== undefined && { observedGeneration: generation }), ...status };
    const deleted = async () => {
      if (!hasFinished(pod)) await patchPodStatus(client, pods.resource, pod, failed);
      await client.delete(pods.resource, { namespace, name }, { gracePeriodSeconds: 0 });
    };
    await deleted().catch(unlessCode(404));
  };

  const collectAll = async (superfluous: Iterable<Pod>, statusOf?: (pod: Pod) => PodStatus): Promise<void> => {
    const results = await Promise.allSettled([...superfluous].map((pod) => collect(pod, statusOf?.(pod))));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  };

  const collectFinished = async (): Promise<void> => {
    const ordered = [...finishedPods.get(FINISHED)].sort(byEvictionAndCreation);
    await collectAll(ordered.slice(0, Math.max(0, ordered.length - maxFinished)));
  };

  const collectOrphans = async (name: string): Promise<void> => {
    const node = { kind: "Node", apiVersion: "v1", metadata: { name } };
    if (nodes.get(name) || (await readFresh(resources, nodes.resource, node))) return;
    const cause = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };
    const time = printTime(clock.now());
    await collectAll(podsByNode.get(name), (pod) => disruptedStatus(pod, { ...cause, time }));
  };

  const controller = loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [source(nodes, observeNode), source(pods, observePod)],
    async sync(key) {
      const pod = pods.get(key);
      if (key === FINISHED) await collectFinished();
      else if (!key.includes("/")) await collectOrphans(key);
      else if (pod && isAbandoned(pod)) await collect(pod);
    },
  });
  return {
    name: NAME,
    run: (signal) => {
      finishedCount = 0;
      return controller.run(signal);
    },
  };
}

function isOutOfService(node: Node): boolean {
  return !isNodeReady(node) && (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false);
}

function byEvictionAndCreation(one: Pod, other: Pod): number {
  const rank = ({ status }: Pod) => (status?.phase === "Failed" && status.reason === "Evicted" ? 0 : 1);
  return rank(one) - rank(other) || byCreation(one, other);
}
