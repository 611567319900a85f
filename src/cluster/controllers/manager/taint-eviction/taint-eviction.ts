import { isDeepStrictEqual } from "node:util";
import type { Node, Taint } from "../../../../kinds/types/node.ts";
import type { Toleration } from "../../../../kinds/types/pod.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { disruptedStatus, patchPodStatus } from "../../shared/disruption.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { nodeNameOf } from "../../shared/pods.ts";
import { matchingTolerations } from "../../shared/taints.ts";

const NAME = "taint-eviction-controller";

/** A Pod that will be deleted. */
interface Eviction {
  /** On the monotonic clock. */
  readonly dueMs: number;
  hasBegun: boolean;
  isRecorded: boolean;
}

/** taint-eviction-controller: deletes Pods that do not tolerate the NoExecute taints of their nodes, or not for longer. */
export function taintEviction(context: ManagerContext): Controller {
  // Scheduled evictions follow from the objects that it sees when it starts.
  return { name: NAME, run: (signal) => evictionLoop(context).run(signal) };
}

function evictionLoop(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const podsByNode = pods.index(nodeNameOf);
  const recorder = new EventRecorder(context, NAME);
  const evictions = new Map<string, Eviction>();

  const record = (key: string, message: string): void => {
    const [namespace = "", name = ""] = key.split("/");
    const target = { kind: "Pod", apiVersion: "v1", metadata: { namespace, name } };
    recorder.record(pods.resource, target, "Normal", "TaintManagerEviction", `${message} Pod ${key}`);
  };

  const cancel = (key: string): void => {
    const known = evictions.get(key);
    if (known && !known.hasBegun) record(key, "Cancelling deletion of");
    evictions.delete(key);
  };

  const schedule = (key: string, delayMs: number, queue: Queue): void => {
    evictions.set(key, { dueMs: clock.monotonic() + delayMs, hasBegun: delayMs === 0, isRecorded: false });
    if (delayMs === 0) queue.add(key);
    else queue.addAfter(key, delayMs);
  };

  /** Upstream: processPodOnNode. A scheduled eviction keeps its time when taints or tolerations change. */
  const decide = (pod: Pod, taints: readonly Taint[], queue: Queue): void => {
    const key = keyOf(pod);
    const known = evictions.get(key);
    if (known?.hasBegun) return;
    const tolerations = matchingTolerations(pod.spec?.tolerations ?? [], taints);
    if (tolerations === undefined) {
      cancel(key);
      schedule(key, 0, queue);
      return;
    }
    const seconds = shortestSeconds(tolerations);
    if (seconds === Number.POSITIVE_INFINITY) cancel(key);
    else if (known === undefined) schedule(key, seconds * 1000, queue);
  };

  const observeNode =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      if (after === undefined) return;
      const taints = evictingTaints(after);
      if (isDeepStrictEqual(before ? evictingTaints(before) : [], taints)) return;
      for (const pod of podsByNode.get(after.metadata.name ?? "")) {
        if (taints.length === 0) cancel(keyOf(pod));
        else decide(pod, taints, queue);
      }
    };

  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      if (after === undefined) {
        if (before) cancel(keyOf(before));
        return;
      }
      if (before && isSamePlace(before, after)) return;
      const node = nodes.get(after.spec?.nodeName ?? "");
      const taints = node ? evictingTaints(node) : [];
      if (taints.length > 0) decide(after, taints, queue);
    };

  const evict = async (key: string): Promise<void> => {
    const pod = pods.get(key);
    if (pod === undefined) return;
    const { namespace = "", name = "" } = pod.metadata;
    const reason = "DeletionByTaintManager";
    const message = "Taint manager: deleting due to NoExecute taint";
    const status = disruptedStatus(pod, { reason, message, time: printTime(clock.now()) });
    await patchPodStatus(client, pods.resource, pod, status);
    await client.delete(pods.resource, { namespace, name });
  };

  return loop({
    name: NAME,
    workers: 8,
    clock,
    report,
    sources: [source(nodes, observeNode), source(pods, observePod)],
    async sync(key, queue) {
      const eviction = evictions.get(key);
      if (eviction === undefined) return;
      const restMs = eviction.dueMs - clock.monotonic();
      if (restMs > 0) return queue.addAfter(key, restMs);
      eviction.hasBegun = true;
      if (!eviction.isRecorded) record(key, "Marking for deletion");
      eviction.isRecorded = true;
      await evict(key).catch(unlessCode(404));
      if (evictions.get(key) === eviction) evictions.delete(key);
    },
  });
}

function evictingTaints({ spec }: Node): Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

function isSamePlace({ spec: one }: Pod, { spec: other }: Pod): boolean {
  return one?.nodeName === other?.nodeName && isDeepStrictEqual(one?.tolerations ?? [], other?.tolerations ?? []);
}

function shortestSeconds(tolerations: readonly Toleration[]): number {
  const unlimited = Number.POSITIVE_INFINITY;
  const shortest = tolerations.reduce(
    (least, { tolerationSeconds = unlimited }) => Math.min(least, tolerationSeconds),
    unlimited,
  );
  return Math.max(0, shortest);
}
