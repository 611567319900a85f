import { nodeUser } from "../../access/authentication/own-users.ts";
import type { JsonObject } from "../../base/api/object.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { NodeCluster } from "../controllers/manager/nodes.suite.ts";
import { runControllers } from "../controllers/shared/controller.ts";
import { Informers } from "../controllers/shared/informers.ts";
import { ContainerImages } from "./behaviour/container-images.ts";
import { defaultBehaviour } from "./behaviour/default-behaviour.ts";
import { functionBehaviour } from "./behaviour/function-behaviour.ts";
import { NodeConnections } from "./node-connections.ts";
import type { NodesContext } from "./nodes-context.ts";
import { simulatedNodes } from "./simulated-nodes.ts";

/** A cluster with simulated nodes, on a clock that the test drives. */
export class SimulatedCluster extends NodeCluster {
  #stopping = new AbortController();
  #running: Promise<void> | undefined;

  /** Starts simulated nodes whose containers get functions from the returned images. */
  async simulateFunctions(): Promise<ContainerImages> {
    const images = new ContainerImages();
    const { clock, access } = this.resources;
    await this.simulate({ behaviour: functionBehaviour(images, defaultBehaviour, { clock, access }) });
    return images;
  }

  /** Starts simulated nodes and waits until they are registered. */
  async simulate(more: Partial<NodesContext> = {}): Promise<void> {
    const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
    const controller = simulatedNodes({
      resources: this.resources,
      report: this.report,
      informers: new Informers(this.resources, this.report),
      clientOf: (name) => this.clientFor(nodeUser(name)),
      stageClient: this.client,
      count: 1,
      capacity,
      leaseSeconds: 40,
      waitsForRanges: false,
      connections: new NodeConnections(),
      behaviour: defaultBehaviour,
      ...more,
    });
    this.#stopping = new AbortController();
    this.#running = runControllers([controller], this.#stopping.signal, this.clock, this.report);
    await this.clock.advance(0);
  }

  /** Stops the nodes, as the end of their server does. They can be started again. */
  async stopNodes(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  override async stop(): Promise<void> {
    await this.stopNodes();
    await super.stop();
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
