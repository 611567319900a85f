import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../../../kinds/types/node.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { readFresh } from "../../shared/fresh.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { conditionOf, isNodeReady, nodeEventTarget } from "../../shared/nodes.ts";
import { nodeNameOf, conditionOf as podConditionOf } from "../../shared/pods.ts";
import { missingBetaLabels } from "./beta-labels.ts";
import { planTaints } from "./condition-taints.ts";
import { Heartbeats, type Lease } from "./heartbeats.ts";
import { withUnknownStatus } from "./unknown-status.ts";
import { Zones } from "./zones.ts";

const NAME = "node-lifecycle-controller";
const LEASES = "kube-node-lease";

/** Keys of the queue that stand neither for a node (`name`) nor for a Pod (`namespace/name`). */
const SILENCE = "/silence";
const DISRUPTION = "/disruption";
const EVICTIONS = "/evictions";

/**
 * node-lifecycle-controller: taints nodes by their conditions, and reports nodes that no longer post their status or
 * renew their Lease as unknown. Pods are evicted from such nodes by taint-eviction-controller.
 *
 * Differs: Upstream checks all nodes every five seconds. Here only nodes that change or become silent are checked.
 */
export function nodeLifecycle(context: ManagerContext): Controller {
  // What it knows about nodes is only valid while it watches them.
  return { name: NAME, run: (signal) => lifecycleLoop(context).run(signal) };
}

function lifecycleLoop(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const { informer: leases } = informers.of<Lease>("coordination.k8s.io", "leases");
  const podsByNode = pods.index(nodeNameOf);
  const recorder = new EventRecorder(context, "node-controller");
  const heartbeats = new Heartbeats(clock);
  const zones = new Zones(clock);
  /** Nodes that lose their NoExecute taints, although they may not be ready. */
  const spared = new Set<string>();
  /** Nodes that the eviction rate allows to taint. */
  const allowed = new Set<string>();
  /** Nodes whose Pods are to be marked as not ready. */
  const unmarked = new Set<string>();
  const time = () => printTime(clock.now());

  const recordNode = (node: Node, reason: string, message: string): void => {
    const { name } = node.metadata;
    recorder.record(nodes.resource, nodeEventTarget(node), "Normal", reason, `Node ${name} ${message}`);
  };

  const observeNode =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      const { name = "" } = (after ?? before)?.metadata ?? {};
      zones.change(before, after);
      if (after) heartbeats.observeNode(after, leases.get(`${LEASES}/${name}`));
      if (before === undefined && after) {
        recordNode(after, "RegisteredNode", `event: Registered Node ${name} in Controller`);
        spared.add(name);
      } else if (before && after === undefined) {
        recordNode(before, "RemovingNode", `event: Removing Node ${name} from Controller`);
        forget(name);
      }
      queue.add(name);
      queue.add(DISRUPTION);
      addSilence(queue);
    };

  const forget = (name: string): void => {
    heartbeats.forget(name);
    zones.cancel(name);
    for (const set of [spared, allowed, unmarked]) set.delete(name);
  };

  const addSilence = (queue: Queue): void => {
    const nextMs = heartbeats.nextMs();
    if (nextMs !== undefined) queue.addAfter(SILENCE, nextMs);
  };

  const addEvictions = (queue: Queue): void => {
    const nextMs = zones.nextMs();
    if (nextMs !== undefined) queue.addAfter(EVICTIONS, nextMs);
  };

  const tasks: Readonly<Record<string, (queue: Queue) => void>> = {
    [SILENCE]: (queue) => {
      for (const name of heartbeats.takeSilent()) queue.add(name);
      addSilence(queue);
    },
    [DISRUPTION]: (queue) => {
      const turn = zones.assess();
      if (turn === "lost") {
        for (const { metadata } of nodes.all()) {
          spared.add(metadata.name ?? "");
          allowed.delete(metadata.name ?? "");
          queue.add(metadata.name ?? "");
        }
      }
      if (turn === "regained") heartbeats.restart();
      addEvictions(queue);
    },
    [EVICTIONS]: (queue) => {
      for (const name of zones.takeAllowed()) {
        allowed.add(name);
        queue.add(name);
      }
      addEvictions(queue);
    },
  };

  /** The node with an unknown status, if it is silent. */
  const checkHeartbeat = async (node: Node, queue: Queue): Promise<Node> => {
    const { name = "" } = node.metadata;
    const restMs = heartbeats.restMs(name);
    if (restMs > 0) {
      if (conditionOf(node, "Ready") === undefined) queue.addAfter(name, restMs);
      return node;
    }
    const unknown = withUnknownStatus(node, time());
    if (unknown === undefined) return node;
    await catchUp(name);
    if (heartbeats.restMs(name) > 0) return node;
    const written = (await client.update(nodes.resource, unknown, { subresource: "status" })) as Node;
    if (isNodeReady(node)) {
      unmarked.add(name);
      recordNode(node, "NodeNotReady", "status is now: NodeNotReady");
    }
    await nodes.sees(written.metadata.resourceVersion);
    return nodes.get(name) ?? written;
  };

  /** Waits until the informer has the newest Lease. Upstream: NodeControllerLeaseCircuitBreaker */
  const catchUp = async (name: string): Promise<void> => {
    const lease = { kind: "Lease", apiVersion: "", metadata: { namespace: LEASES, name } };
    const fresh = await readFresh(resources, leases.resource, lease);
    await leases.sees(fresh?.metadata.resourceVersion);
  };

  const updateNode = async (node: Node): Promise<void> => {
    const { name = "", resourceVersion } = node.metadata;
    const plan = planTaints(node, { isSpared: spared.has(name), isAllowed: allowed.has(name), time: time() });
    const labels = missingBetaLabels(node);
    const hasOtherTaints = !isDeepStrictEqual(plan.taints, node.spec?.taints ?? []);
    if (hasOtherTaints || Object.keys(labels).length > 0) {
      const taints = plan.taints.length > 0 ? plan.taints : null;
      const patch = { metadata: { resourceVersion, labels }, ...(hasOtherTaints && { spec: { taints } }) };
      const written = await client.patch(nodes.resource, { namespace: "", name }, patch);
      await nodes.sees(written.metadata.resourceVersion);
    }
    spared.delete(name);
    allowed.delete(name);
    if (plan.isWaiting) zones.request(node);
    else zones.cancel(name);
  };

  const markNotReady = async (pod: Pod): Promise<void> => {
    const ready = podConditionOf(pod, "Ready");
    if (ready === undefined || ready.status === "False") return;
    const { namespace = "", name = "", uid } = pod.metadata;
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime: time() }];
    const options = { isStrategic: true, subresource: "status" };
    const patch = { metadata: { uid }, status: { conditions } };
    await client.patch(pods.resource, { namespace, name }, patch, options).catch(unlessCode(404));
    recorder.record(pods.resource, pod, "Warning", "NodeNotReady", "Node is not ready");
  };

  const syncNode = async (name: string, queue: Queue): Promise<void> => {
    const known = nodes.get(name);
    if (known === undefined) return;
    const node = await checkHeartbeat(known, queue);
    await updateNode(node);
    addEvictions(queue);
    if (unmarked.has(name) && !isNodeReady(node)) for (const pod of podsByNode.get(name)) await markNotReady(pod);
    unmarked.delete(name);
  };

  const isOnFailedNode = ({ spec }: Pod): boolean => {
    const node = nodes.get(spec?.nodeName ?? "");
    return node !== undefined && conditionOf(node, "Ready") !== undefined && !isNodeReady(node);
  };

  /** Marks a Pod that was bound after its node had failed. */
  const syncPod = async (key: string): Promise<void> => {
    const pod = pods.get(key);
    if (pod && isOnFailedNode(pod)) await markNotReady(pod);
  };

  return loop({
    name: NAME,
    workers: 8,
    clock,
    report,
    sources: [
      source(leases, () => (_, after) => {
        if (after?.metadata.namespace === LEASES) heartbeats.observeLease(after);
      }),
      source(nodes, observeNode),
      source(pods, (queue) => (before, after) => {
        if (after && before?.spec?.nodeName !== after.spec?.nodeName && isOnFailedNode(after)) queue.add(keyOf(after));
      }),
    ],
    async sync(key, queue) {
      const task = tasks[key];
      if (task) task(queue);
      else if (key.includes("/")) await syncPod(key);
      else await syncNode(key, queue);
    },
  });
}
