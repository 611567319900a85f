import type { KubeObject } from "../../base/api/object.ts";
import { forEachLimited } from "../../base/util/for-each-limited.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { printMicroTime, printTime } from "../../resources/write/metadata.ts";
import { isStatus } from "../controllers/shared/controller.ts";
import { readFresh } from "../controllers/shared/fresh.ts";
import { nodeConditions } from "./node-object.ts";
import type { NodesContext } from "./nodes-context.ts";
import type { SimulatedNode } from "./simulated-node.ts";

const NAMESPACE = "kube-node-lease";
/** Upstream: nodeStatusReportFrequency */
const REPORT_MS = 300_000;
/** Nodes are divided into this many groups, which renew their Leases one after the other. */
const GROUPS = 10;
/** A group is filled up to this number of nodes before the next one is used, so that few nodes share one timer. */
const GROUP_SIZE = 50;
const CONCURRENCY = 20;

interface Beating {
  readonly node: SimulatedNode;
  readonly group: number;
  /** The Lease as it was written last. Undefined: it must be read. */
  lease: KubeObject | undefined;
  reportedMs: number;
}

/** Renews the Leases of all simulated nodes and posts their conditions, at the intervals of a kubelet. */
export class Heartbeats {
  readonly #context: NodesContext;
  readonly #renewMs: number;
  readonly #leases: ServedResource;
  readonly #nodes: ServedResource;
  readonly #beating = new Map<string, Beating>();
  readonly #sizes: number[] = Array.from({ length: GROUPS }, () => 0);
  readonly #areStaged: () => boolean;
  readonly #wake = { call: () => {} };

  /** `areStaged`: Stages write the conditions of nodes now. */
  constructor(context: NodesContext, areStaged: () => boolean) {
    this.#context = context;
    this.#areStaged = areStaged;
    this.#renewMs = (context.leaseSeconds * 1000) / 4;
    const { catalog } = context.resources;
    this.#leases = storedResource(catalog, "coordination.k8s.io", "leases");
    this.#nodes = storedResource(catalog, "", "nodes");
  }

  /** Renews the Lease of a node now and from now on. Its status has just been posted at `reportedMs`. */
  async add(node: SimulatedNode, reportedMs: number): Promise<void> {
    const group = this.#sizes.findIndex((size) => size < GROUP_SIZE);
    const smallest = this.#sizes.indexOf(this.#sizes.reduce((one, other) => Math.min(one, other)));
    const beating: Beating = { node, group: group < 0 ? smallest : group, lease: undefined, reportedMs };
    this.#beating.set(node.name, beating);
    this.#sizes[beating.group] = (this.#sizes[beating.group] ?? 0) + 1;
    this.#wake.call();
    if (this.#isConnected(beating)) await this.#renew(beating);
  }

  remove(name: string): void {
    const known = this.#beating.get(name);
    if (known === undefined) return;
    this.#beating.delete(name);
    this.#sizes[known.group] = (this.#sizes[known.group] ?? 1) - 1;
  }

  /** Beats until the signal aborts. Without nodes it waits without a timer. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context.resources;
    const startMs = clock.monotonic();
    for (let slot = 1; !signal.aborted; slot += 1) {
      if (this.#beating.size === 0) await this.#nextNode(signal);
      const group = slot % GROUPS;
      if (this.#sizes[group] === 0) continue;
      const dueMs = startMs + (slot * this.#renewMs) / GROUPS;
      const restMs = dueMs - clock.monotonic();
      // Slots that passed while there were no nodes are skipped.
      if (restMs < -this.#renewMs) continue;
      if (restMs > 0) await clock.sleep(restMs, signal);
      if (!signal.aborted) await this.#beat(group);
    }
  }

  #isConnected({ node }: Beating): boolean {
    return this.#context.connections.isConnected(node.name);
  }

  #nextNode(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.call = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async #beat(group: number): Promise<void> {
    const due = [...this.#beating.values()].filter((one) => one.group === group && this.#isConnected(one));
    await forEachLimited(due, CONCURRENCY, async (beating) => {
      try {
        await this.#renew(beating);
        await this.#report(beating);
      } catch (error) {
        beating.lease = undefined;
        this.#context.report(`simulated node ${beating.node.name}`, error);
      }
    });
  }

  async #renew(beating: Beating): Promise<void> {
    const { node } = beating;
    const { name, client } = node;
    const key = { namespace: NAMESPACE, name };
    beating.lease ??= await readFresh(this.#context.resources, this.#leases, { metadata: key });
    try {
      const lease = this.#renewed(beating);
      beating.lease = await (beating.lease ? client.update(this.#leases, lease) : client.create(this.#leases, lease));
    } catch (error) {
      // Someone else has changed or deleted it: the next beat reads it. A new namespace may lack its own beats at first.
      beating.lease = undefined;
      if (!isStatus(error, 404, 409)) throw error;
    }
  }

  #renewed({ node: { name, uid }, lease }: Beating): KubeObject {
    const { resources, leaseSeconds } = this.#context;
    const renewTime = printMicroTime(resources.clock.now());
    const owner = { apiVersion: "v1", kind: "Node", name, uid };
    return {
      kind: "Lease",
      apiVersion: this.#leases.apiVersion,
      metadata: lease?.metadata ?? { name, namespace: NAMESPACE, ownerReferences: [owner] },
      spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime },
    };
  }

  async #report(beating: Beating): Promise<void> {
    const { clock } = this.#context.resources;
    const { name, client } = beating.node;
    if (clock.now() - beating.reportedMs < REPORT_MS || this.#areStaged()) return;
    const node = this.#context.informers.of<Node>("", "nodes").informer.get(name);
    if (node === undefined) return;
    const conditions = nodeConditions(node, printTime(clock.now()));
    const options = { isStrategic: true, subresource: "status" };
    await client.patch(this.#nodes, { namespace: "", name }, { status: { conditions } }, options);
    beating.reportedMs = clock.now();
  }
}
