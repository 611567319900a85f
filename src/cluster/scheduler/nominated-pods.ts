import type { PodInfo } from "./pod-info.ts";

/** Pods that are to run on a node once there is room, by preemption. Upstream: nominator */
export class NominatedPods {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodes = new Map<string, string>();

  /** Nominates a Pod, or changes its node. */
  set(pod: PodInfo, nodeName: string): void {
    this.delete(pod.uid);
    this.#nodes.set(pod.uid, nodeName);
    const pods = this.#byNode.get(nodeName);
    if (pods) pods.set(pod.uid, pod);
    else this.#byNode.set(nodeName, new Map([[pod.uid, pod]]));
  }

  delete(uid: string): void {
    const nodeName = this.#nodes.get(uid);
    if (nodeName === undefined) return;
    this.#nodes.delete(uid);
    const pods = this.#byNode.get(nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(nodeName);
  }

  /** The node of a Pod. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid);
  }

  /** The Pods of a node. Undefined if there are none. */
  of(nodeName: string): ReadonlyMap<string, PodInfo> | undefined {
    return this.#byNode.get(nodeName);
  }
}
