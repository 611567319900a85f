import type { Node } from "../../kinds/types/node.ts";
import type { Controller } from "../controllers/shared/controller.ts";
import { loop, synced } from "../controllers/shared/loop.ts";
import { Heartbeats } from "./heartbeats.ts";
import { NodeManager } from "./node-manager.ts";
import type { NodesContext } from "./nodes-context.ts";

const NAME = "simulated-nodes";

/** Acts as the kubelets of all simulated nodes. Everything that it keeps in memory follows from stored objects. */
export function simulatedNodes(context: NodesContext): Controller {
  return {
    name: NAME,
    async run(signal) {
      const { informer } = context.informers.of<Node>("", "nodes");
      const heartbeats = new Heartbeats(context);
      const nodes = new NodeManager(context, heartbeats);
      await informer.use(signal);
      if (!signal.aborted) await nodes.create();
      await Promise.all([heartbeats.run(signal), nodeLoop(context, nodes).run(signal)]);
    },
  };
}

function nodeLoop(context: NodesContext, nodes: NodeManager): Controller {
  const { informers, resources, report } = context;
  return loop({
    name: NAME,
    workers: 50,
    clock: resources.clock,
    report,
    sources: [synced(informers.of<Node>("", "nodes").informer)],
    async sync(name) {
      await nodes.sync(name);
    },
  });
}
