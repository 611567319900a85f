import { nodeUser } from "../../access/authentication/own-users.ts";
import type { JsonObject } from "../../base/api/object.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { NodeCluster } from "../controllers/manager/nodes.suite.ts";
import { Informers } from "../controllers/shared/informers.ts";
import type { NodesContext } from "./nodes-context.ts";
import { simulatedNodes } from "./simulated-nodes.ts";

/** A cluster with simulated nodes, on a clock that the test drives. */
export class SimulatedCluster extends NodeCluster {
  /** Starts simulated nodes and waits until they are registered. */
  async simulate(more: Partial<NodesContext> = {}): Promise<void> {
    const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
    this.start(
      simulatedNodes({
        resources: this.resources,
        report: this.report,
        informers: new Informers(this.resources, this.report),
        clientOf: (name) => this.clientFor(nodeUser(name)),
        count: 1,
        capacity,
        waitsForRanges: false,
        ...more,
      }),
    );
    await this.clock.advance(0);
  }

  /** Creates a Pod on node-1 and lets the node see it. */
  async run(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Promise<void> {
    const containers = [{ name: "main", image: "nginx" }];
    await this.post("pods", name, { nodeName: "node-1", containers, ...spec }, metadata);
    await this.clock.advance(0);
  }

  /** The stored Pod. Throws if it does not exist. */
  async stored(name: string): Promise<Pod> {
    const pod = await this.pod(name);
    if (pod === undefined) throw new Error(`there is no Pod ${name}`);
    return pod;
  }
}
