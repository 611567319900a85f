import type { Node } from "../../kinds/types/node.ts";
import type { ObjectClient } from "../../resources/object-client.ts";
import { EventRecorder } from "../controllers/shared/event-recorder.ts";
import { defaultPodRange, PodAddresses } from "./addresses.ts";
import type { NodesContext } from "./nodes-context.ts";

/** What this server keeps in memory about a node that it simulates. All of it follows from stored objects. */
export class SimulatedNode {
  readonly name: string;
  /** Identifies the Node object: one with the same name that is created later is another node. */
  readonly uid: string;
  /** Acts as `system:node:NAME`. */
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  /** Its InternalIP. */
  readonly address: string;
  /** Undefined until the node has a range of Pod addresses. */
  podAddresses: PodAddresses | undefined;
  #isUnschedulable: boolean;

  constructor(context: NodesContext, { metadata, spec }: Node, address: string) {
    const { name = "", uid = "" } = metadata;
    this.name = name;
    this.uid = uid;
    this.address = address;
    this.#isUnschedulable = spec?.unschedulable ?? false;
    this.client = context.clientOf(name);
    this.recorder = new EventRecorder({ ...context, client: this.client }, "kubelet", name);
  }

  /** Takes the ranges of Pod addresses from the Node, unless it has them already. */
  setRanges({ spec: { podCIDRs = [] } = {} }: Node, waitsForRanges: boolean): void {
    if (this.podAddresses !== undefined || (podCIDRs.length === 0 && waitsForRanges)) return;
    this.podAddresses = new PodAddresses(podCIDRs.length > 0 ? podCIDRs : [defaultPodRange(this.address)]);
  }

  /** The reason of an Event if the node has been cordoned or uncordoned. Upstream: recordNodeSchedulableEvent */
  noteSchedulable({ spec: { unschedulable = false } = {} }: Node): string | undefined {
    if (unschedulable === this.#isUnschedulable) return undefined;
    this.#isUnschedulable = unschedulable;
    return unschedulable ? "NodeNotSchedulable" : "NodeSchedulable";
  }
}
