import { readAmounts } from "../../base/api/resource-amounts.ts";
import type { Node } from "../../kinds/types/node.ts";
import { UsedPorts } from "../controllers/shared/host-ports.ts";
import type { ImageState } from "./image-states.ts";
import type { PodInfo } from "./pod-info.ts";
import { addTotals, copyTotals, noResources, type ResourceTotals, totalsOf } from "./resource-totals.ts";

/** Changes of a simulation, or of the cluster. Plugins only read. */
export class NodeInfo {
  readonly name: string;
  /** Increases with every change, so that values derived from the node can be kept until then. */
  generation = 0;
  /** Undefined if Pods have this node, but it does not exist. Such nodes are never in a list of nodes. */
  node: Node | undefined;
  allocatable: ResourceTotals = noResources();
  /** By uid. Includes Pods that are being bound. */
  readonly pods = new Map<string, PodInfo>();
  /** Those of `pods` with affinity or anti-affinity to other Pods. */
  readonly podsWithAffinity = new Map<string, PodInfo>();
  readonly podsWithRequiredAntiAffinity = new Map<string, PodInfo>();
  /** Sum of the requests of all Pods. */
  requested: ResourceTotals = noResources();
  /** Sum of `minimum` of all Pods. */
  minimum: ResourceTotals = noResources();
  usedPorts = new UsedPorts();
  /** How many Pods use a PersistentVolumeClaim, by its key. */
  readonly claims = new Map<string, number>();
  /** Images on this node, by each of their names. */
  images: ReadonlyMap<string, ImageState> = new Map();

  constructor(name: string) {
    this.name = name;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.node?.metadata.labels ?? NO_LABELS;
  }

  setNode(node: Node | undefined): void {
    this.generation += 1;
    this.node = node;
    this.allocatable = totalsOf(readAmounts(node?.status?.allocatable));
  }

  addPod(pod: PodInfo): void {
    this.pods.set(pod.uid, pod);
    if (pod.hasAffinity) this.podsWithAffinity.set(pod.uid, pod);
    if (pod.hasRequiredAntiAffinity) this.podsWithRequiredAntiAffinity.set(pod.uid, pod);
    this.#count(pod, 1);
    for (const port of pod.ports) this.usedPorts.add(port);
  }

  /** Does nothing if the Pod is not here. */
  removePod(uid: string): void {
    const pod = this.pods.get(uid);
    if (pod === undefined) return;
    this.pods.delete(uid);
    this.podsWithAffinity.delete(uid);
    this.podsWithRequiredAntiAffinity.delete(uid);
    this.#count(pod, -1);
    for (const port of pod.ports) this.usedPorts.remove(port);
  }

  /** A copy for a simulation. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name);
    copy.node = this.node;
    copy.allocatable = this.allocatable;
    for (const [uid, pod] of this.pods) copy.pods.set(uid, pod);
    for (const [uid, pod] of this.podsWithAffinity) copy.podsWithAffinity.set(uid, pod);
    for (const [uid, pod] of this.podsWithRequiredAntiAffinity) copy.podsWithRequiredAntiAffinity.set(uid, pod);
    copy.requested = copyTotals(this.requested);
    copy.minimum = copyTotals(this.minimum);
    copy.usedPorts = this.usedPorts.copy();
    for (const [claim, count] of this.claims) copy.claims.set(claim, count);
    copy.images = this.images;
    return copy;
  }

  #count(pod: PodInfo, sign: 1 | -1): void {
    this.generation += 1;
    addTotals(this.requested, pod.requests, sign);
    addTotals(this.minimum, pod.minimum, sign);
    for (const claim of pod.claims) {
      const count = (this.claims.get(claim) ?? 0) + sign;
      if (count > 0) this.claims.set(claim, count);
      else this.claims.delete(claim);
    }
  }
}

const NO_LABELS: Readonly<Record<string, string>> = {};
