import type { KubeObject } from "../../base/api/object.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { type Controller, keepRunning } from "../controllers/shared/controller.ts";
import { keyOf } from "../controllers/shared/informer.ts";
import { loop, type Queue, source, synced } from "../controllers/shared/loop.ts";
import { nodeNameOf } from "../controllers/shared/pods.ts";
import { Heartbeats } from "./heartbeats.ts";
import { KwokList } from "./kwok/kwok-list.ts";
import { type KwokUsage, KwokUsageReader, kwokUsage } from "./metrics/kwok-usage.ts";
import { NodeManager } from "./node-manager.ts";
import type { NodesContext } from "./nodes-context.ts";
import { PodManager } from "./pods/pod-manager.ts";
import { StageBook } from "./stages/stage-book.ts";
import { StagePlayer } from "./stages/stage-player.ts";

const NAME = "simulated-nodes";
const WORKERS = 100;

/** Acts as the kubelets of all simulated nodes. Everything that it keeps in memory follows from stored objects. */
export function simulatedNodes(context: NodesContext): Controller {
  return {
    name: NAME,
    async run(signal) {
      const { resources, report } = context;
      const { informer } = context.informers.of<Node>("", "nodes");
      const stages = new StageBook(context, () => loops.stagesChanged());
      const usages = usageLists(context);
      const { clock, random, catalog } = resources;
      const player = new StagePlayer({ clock, random, catalog, report, client: context.stageClient });
      const heartbeats = new Heartbeats(context, () => stages.of("v1/Node").length > 0);
      const nodes = new NodeManager(context, heartbeats, stages, player);
      const pods = new PodManager(context, nodes, stages, player);
      const loops = kubeletLoop(context, nodes, pods);
      await informer.use(signal);
      const lists = [stages.list, ...usages.lists];
      const following = lists.map((list) => keepRunning(list, signal, resources.clock, report));
      await Promise.all(lists.map((list) => list.loaded));
      if (!signal.aborted) await nodes.create();
      context.kubelets?.serve(pods, usages.source);
      context.connections.observe((name) => loops.nodeChanged(name));
      await Promise.all([heartbeats.run(signal), loops.run(signal), ...following]);
      context.kubelets?.serve(undefined);
      pods.close();
    },
  };
}

/** What KWOK's objects say about the usage of containers. */
function usageLists({ resources, report }: NodesContext) {
  const reader = new KwokUsageReader(resources);
  const listOf = (kind: string, plural: string, read: (object: KubeObject) => KwokUsage) =>
    new KwokList({ resources, report, kind, plural, read });
  const ofPods = listOf("ResourceUsage", "resourceusages", (object) => reader.ofPod(object));
  const ofCluster = listOf("ClusterResourceUsage", "clusterresourceusages", (object) => reader.ofCluster(object));
  const source = kwokUsage(
    () => ofPods.all,
    () => ofCluster.all,
  );
  return { lists: [ofPods, ofCluster], source };
}

interface KubeletLoop extends Controller {
  /** A node and its Pods must be looked at again. */
  nodeChanged(name: string): void;
  /** All nodes and their Pods must be looked at again. */
  stagesChanged(): void;
}

/** One loop for all nodes. A key is the name of a node, or `namespace/name` of a Pod. */
function kubeletLoop(context: NodesContext, nodes: NodeManager, pods: PodManager): KubeletLoop {
  const { informers, resources, report } = context;
  const { informer } = informers.of<Pod>("", "pods");
  const byNode = informer.index(nodeNameOf);
  let work: Queue | undefined;
  const isSimulated = (pod: Pod) => nodes.get(pod.spec?.nodeName) !== undefined;
  const made = loop({
    name: NAME,
    workers: WORKERS,
    clock: resources.clock,
    report,
    sources: [
      synced(informers.of<Node>("", "nodes").informer),
      source(informer, (queue) => {
        work = queue;
        return (before, after) => {
          const pod = after ?? before;
          if (pod && isSimulated(pod)) queue.add(keyOf(pod));
        };
      }),
    ],
    async sync(key, queue) {
      if (key.includes("/")) return pods.sync(key, queue);
      if (await nodes.sync(key, queue)) for (const pod of byNode.get(key)) queue.add(keyOf(pod));
    },
  });
  const stagesChanged = () => {
    for (const { metadata } of informers.of<Node>("", "nodes").informer.all()) work?.add(metadata.name ?? "");
    for (const pod of informer.all()) if (isSimulated(pod)) work?.add(keyOf(pod));
  };
  const nodeChanged = (name: string) => {
    work?.add(name);
    for (const pod of byNode.get(name)) work?.add(keyOf(pod));
  };
  return { ...made, nodeChanged, stagesChanged };
}
