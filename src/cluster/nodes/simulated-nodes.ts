import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import type { Controller } from "../controllers/shared/controller.ts";
import { keyOf } from "../controllers/shared/informer.ts";
import { loop, source, synced } from "../controllers/shared/loop.ts";
import { nodeNameOf } from "../controllers/shared/pods.ts";
import { Heartbeats } from "./heartbeats.ts";
import { NodeManager } from "./node-manager.ts";
import type { NodesContext } from "./nodes-context.ts";
import { PodManager } from "./pods/pod-manager.ts";

const NAME = "simulated-nodes";
const WORKERS = 100;

/** Acts as the kubelets of all simulated nodes. Everything that it keeps in memory follows from stored objects. */
export function simulatedNodes(context: NodesContext): Controller {
  return {
    name: NAME,
    async run(signal) {
      const { informer } = context.informers.of<Node>("", "nodes");
      const heartbeats = new Heartbeats(context);
      const nodes = new NodeManager(context, heartbeats);
      const pods = new PodManager(context, nodes);
      await informer.use(signal);
      if (!signal.aborted) await nodes.create();
      context.kubelets?.serve(pods);
      await Promise.all([heartbeats.run(signal), kubeletLoop(context, nodes, pods).run(signal)]);
      context.kubelets?.serve(undefined);
      pods.close();
    },
  };
}

/** One loop for all nodes. A key is the name of a node, or `namespace/name` of a Pod. */
function kubeletLoop(context: NodesContext, nodes: NodeManager, pods: PodManager): Controller {
  const { informers, resources, report } = context;
  const { informer } = informers.of<Pod>("", "pods");
  const byNode = informer.index(nodeNameOf);
  return loop({
    name: NAME,
    workers: WORKERS,
    clock: resources.clock,
    report,
    sources: [
      synced(informers.of<Node>("", "nodes").informer),
      source(informer, (queue) => (before, after) => {
        const pod = after ?? before;
        if (pod && nodes.get(pod.spec?.nodeName)) queue.add(keyOf(pod));
      }),
    ],
    async sync(key, queue) {
      if (key.includes("/")) return pods.sync(key, queue);
      if (await nodes.sync(key)) for (const pod of byNode.get(key)) queue.add(keyOf(pod));
    },
  });
}
