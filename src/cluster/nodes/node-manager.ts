import type { Node } from "../../kinds/types/node.ts";
import { printTime } from "../../resources/write/metadata.ts";
import { unlessCode } from "../controllers/shared/controller.ts";
import type { Informer } from "../controllers/shared/informer.ts";
import type { Queue } from "../controllers/shared/loop.ts";
import { nodeEventTarget } from "../controllers/shared/nodes.ts";
import { NodeAddresses } from "./addresses.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { internalAddress, isReported, isSimulatedNode, newNode, nodeLabels, nodeStatus } from "./node-object.ts";
import type { NodesContext } from "./nodes-context.ts";
import { SimulatedNode } from "./simulated-node.ts";
import type { Stage } from "./stages/stage.ts";
import type { StageBook } from "./stages/stage-book.ts";
import { nodeFunctions, stageFunctions } from "./stages/stage-functions.ts";
import type { StagePlayer } from "./stages/stage-player.ts";

/** Acts as the kubelets of all simulated nodes, as far as Node objects and Leases are concerned. */
export class NodeManager {
  readonly #context: NodesContext;
  readonly #informer: Informer<Node>;
  readonly #heartbeats: Heartbeats;
  readonly #known = new Map<string, SimulatedNode>();
  readonly #addresses = new NodeAddresses();
  readonly #stages: () => readonly Stage[];
  readonly #player: StagePlayer;

  /** While there are Stages of Nodes, they write the status of all simulated nodes. */
  constructor(context: NodesContext, heartbeats: Heartbeats, stages: StageBook, player: StagePlayer) {
    this.#context = context;
    this.#stages = () => stages.of("v1/Node");
    this.#player = player;
    this.#informer = context.informers.of<Node>("", "nodes").informer;
    this.#heartbeats = heartbeats;
  }

  /** A node that this server simulates. Undefined for all other nodes, and before it is registered. */
  get(name: string | undefined): SimulatedNode | undefined {
    return this.#known.get(name ?? "");
  }

  /** Creates the nodes of the configuration, unless they exist. */
  async create(): Promise<void> {
    for (let index = 1; index <= this.#context.count; index += 1) {
      const name = `node-${index}`;
      if (this.#informer.get(name)) continue;
      const created = await this.#context
        .clientOf(name)
        .create(this.#informer.resource, newNode(name))
        .catch(unlessCode(409));
      await this.#informer.sees(created?.metadata.resourceVersion);
    }
  }

  /** Registers a node, posts its status or forgets it. Returns whether it is new, so that its Pods can start. */
  async sync(name: string, queue: Queue): Promise<boolean> {
    const node = this.#informer.get(name);
    const known = this.#known.get(name);
    if (known && known.uid !== node?.metadata.uid) this.#forget(name);
    if (node === undefined || !isSimulatedNode(node) || node.metadata.deletionTimestamp !== undefined) return false;
    const simulated = this.#known.get(name) ?? this.#makeNode(node);
    const hadRanges = simulated.podAddresses !== undefined;
    simulated.setRanges(node, this.#context.waitsForRanges);
    const stages = this.#stages();
    const isReporting = stages.length === 0 && this.#context.connections.isConnected(name);
    if (isReporting && !isReported(node)) await this.#post(simulated, node);
    if (!this.#known.has(name)) await this.#register(simulated);
    if (stages.length > 0) await this.#playStages(stages, simulated, node, queue);
    const change = simulated.noteSchedulable(node);
    if (change !== undefined) this.#record(simulated, node, change);
    return !hadRanges && simulated.podAddresses !== undefined;
  }

  async #playStages(stages: readonly Stage[], simulated: SimulatedNode, node: Node, queue: Queue): Promise<void> {
    const { client, recorder, name, address } = simulated;
    const { stageClient, resources } = this.#context;
    const { resource } = this.#informer;
    const functions = (nowMs: number, startMs: number) => {
      return { ...stageFunctions(nowMs, startMs), ...nodeFunctions(name, address) };
    };
    const subject = { object: node, resource, recorder, functions, statusClient: client, deletionClient: stageClient };
    const dueMs = await this.#player.play(stages, subject);
    if (dueMs !== undefined) queue.addAfter(name, dueMs - resources.clock.now());
  }

  #makeNode(node: Node): SimulatedNode {
    const { name = "" } = node.metadata;
    return new SimulatedNode(this.#context, node, this.#addresses.of(name, internalAddress(node)));
  }

  async #register(simulated: SimulatedNode): Promise<void> {
    this.#known.set(simulated.name, simulated);
    await this.#heartbeats.add(simulated, this.#context.resources.clock.now());
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#player.forget(name);
    this.#addresses.release(name);
    this.#heartbeats.remove(name);
  }

  #record({ name, recorder }: SimulatedNode, node: Node, reason: string): void {
    const message = `Node ${name} status is now: ${reason}`;
    recorder.record(this.#informer.resource, nodeEventTarget(node), "Normal", reason, message);
  }

  async #post(simulated: SimulatedNode, node: Node): Promise<void> {
    const { client, address } = simulated;
    const { resource } = this.#informer;
    const { name = "", labels = {} } = node.metadata;
    const key = { namespace: "", name };
    const wanted = nodeLabels(name);
    const isLabelled = Object.entries(wanted).every(([label, value]) => labels[label] === value);
    if (!isLabelled) await client.patch(resource, key, { metadata: { labels: wanted } });
    const status = nodeStatus(node, this.#context.capacity, address, printTime(this.#context.resources.clock.now()));
    const options = { isStrategic: true, subresource: "status" };
    const written = await client.patch(resource, key, { status }, options);
    this.#record(simulated, node, "NodeReady");
    await this.#informer.sees(written.metadata.resourceVersion);
  }
}
