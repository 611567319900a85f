import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { type Controller, keepRunning } from "../controllers/shared/controller.ts";
import { keyOf } from "../controllers/shared/informer.ts";
import { loop, type Queue, source, synced } from "../controllers/shared/loop.ts";
import { nodeNameOf } from "../controllers/shared/pods.ts";
import { Heartbeats } from "./heartbeats.ts";
import { NodeManager } from "./node-manager.ts";
import type { NodesContext } from "./nodes-context.ts";
import { PodManager } from "./pods/pod-manager.ts";
import { StageList } from "./stages/stage-list.ts";

const NAME = "simulated-nodes";
const WORKERS = 100;

/** Acts as the kubelets of all simulated nodes. Everything that it keeps in memory follows from stored objects. */
export function simulatedNodes(context: NodesContext): Controller {
  return {
    name: NAME,
    async run(signal) {
      const { resources, report } = context;
      const { informer } = context.informers.of<Node>("", "nodes");
      const heartbeats = new Heartbeats(context);
      const nodes = new NodeManager(context, heartbeats);
      const stages = new StageList(resources, report, () => loops.stagesChanged());
      const pods = new PodManager(context, nodes, () => stages.stages);
      const loops = kubeletLoop(context, nodes, pods);
      await informer.use(signal);
      const following = keepRunning(stages, signal, resources.clock, report);
      await stages.loaded;
      if (!signal.aborted) await nodes.create();
      context.kubelets?.serve(pods);
      context.connections.observe((name) => loops.nodeChanged(name));
      await Promise.all([heartbeats.run(signal), loops.run(signal), following]);
      context.kubelets?.serve(undefined);
      pods.close();
    },
  };
}

interface KubeletLoop extends Controller {
  /** A node and its Pods must be looked at again. */
  nodeChanged(name: string): void;
  /** All Pods must be looked at again. */
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
      if (await nodes.sync(key)) for (const pod of byNode.get(key)) queue.add(keyOf(pod));
    },
  });
  const stagesChanged = () => {
    for (const pod of informer.all()) if (isSimulated(pod)) work?.add(keyOf(pod));
  };
  const nodeChanged = (name: string) => {
    work?.add(name);
    for (const pod of byNode.get(name)) work?.add(keyOf(pod));
  };
  return { ...made, nodeChanged, stagesChanged };
}
