import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { ImageStates } from "./image-states.ts";
import { NodeInfo } from "./node-info.ts";
import { NodeOrder } from "./node-order.ts";
import { onNode, type PodInfo, podInfoOf } from "./pod-info.ts";

/**
 * Nodes with their Pods, as the scheduler knows them: what the informers have seen, and Pods that are being bound. Every
 * change costs its node. Upstream: the cache and its snapshot, which are one here because nothing runs in parallel.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #order = new NodeOrder();
  readonly #images = new ImageStates();
  /** The node of each Pod, by uid. */
  readonly #places = new Map<string, NodeInfo>();
  /** Uids of Pods that are being bound. */
  readonly #assumed = new Set<string>();
  /** Nodes with Pods that have affinity or anti-affinity to other Pods. */
  readonly nodesWithAffinity = new Set<NodeInfo>();
  readonly nodesWithRequiredAntiAffinity = new Set<NodeInfo>();

  /** All nodes that exist. */
  get nodes(): readonly NodeInfo[] {
    return this.#order.list();
  }

  /** A node that exists. */
  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name);
    return info?.node && info;
  }

  /** Whether a node has an image. */
  hasImage(name: string): boolean {
    return this.#images.has(name);
  }

  /** Adds or changes a node. */
  setNode(node: Node): void {
    const info = this.#named(node.metadata.name ?? "");
    this.#images.remove(info.name, info.images);
    info.setNode(node);
    info.images = this.#images.add(info.name, node);
    this.#order.set(info);
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (info === undefined) return;
    this.#images.remove(name, info.images);
    info.images = new Map();
    info.setNode(undefined);
    this.#order.delete(info);
    this.#forget(info);
  }

  /** Adds or changes a Pod that has a node. */
  setPod(pod: Pod): void {
    const info = podInfoOf(pod);
    this.#assumed.delete(info.uid);
    this.#remove(info.uid);
    this.#add(info, pod.spec?.nodeName ?? "");
  }

  removePod(uid: string): void {
    this.#assumed.delete(uid);
    this.#remove(uid);
  }

  /** Counts a Pod as if it were bound to the node. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#add(onNode(pod, nodeName), nodeName);
    this.#assumed.add(pod.uid);
  }

  /** Whether a Pod is being bound. */
  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  /** The Pod as it is counted on its node. */
  placed(uid: string): PodInfo | undefined {
    return this.#places.get(uid)?.pods.get(uid);
  }

  #named(name: string): NodeInfo {
    let info = this.#nodes.get(name);
    if (info === undefined) {
      info = new NodeInfo(name);
      this.#nodes.set(name, info);
    }
    return info;
  }

  #add(pod: PodInfo, nodeName: string): void {
    const info = this.#named(nodeName);
    info.addPod(pod);
    this.#places.set(pod.uid, info);
    if (pod.hasAffinity) this.nodesWithAffinity.add(info);
    if (pod.hasRequiredAntiAffinity) this.nodesWithRequiredAntiAffinity.add(info);
  }

  #remove(uid: string): void {
    const info = this.#places.get(uid);
    if (info === undefined) return;
    this.#places.delete(uid);
    info.removePod(uid);
    if (info.podsWithAffinity.size === 0) this.nodesWithAffinity.delete(info);
    if (info.podsWithRequiredAntiAffinity.size === 0) this.nodesWithRequiredAntiAffinity.delete(info);
    this.#forget(info);
  }

  /** Forgets a node that does not exist and has no Pods. */
  #forget(info: NodeInfo): void {
    if (info.node === undefined && info.pods.size === 0) this.#nodes.delete(info.name);
  }
}
