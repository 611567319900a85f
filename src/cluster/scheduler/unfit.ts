import type { NodeInfo } from "./node-info.ts";
import type { PluginFilter, Rejection } from "./plugin.ts";

/** The result of an attempt in which no node was possible. Upstream: FitError and Diagnosis */
export class Unfit {
  readonly filters: readonly PluginFilter[];
  /** Names of the plugins that rejected the Pod. */
  readonly rejectors: Set<string>;
  readonly #total: number;
  readonly #nodes: NodeInfo[] = [];
  readonly #rejections: Rejection[] = [];
  #byNode: Map<NodeInfo, Rejection> | undefined;
  /** Of a plugin that rejected all nodes at once. */
  #general: Rejection | undefined;
  /** Of nodes that were not tried because plugins named others. */
  #untried: Rejection | undefined;
  /** What plugins say that tried to make a node possible. */
  postFilterMessage = "";

  constructor(filters: readonly PluginFilter[], totalNodes: number, rejectors: Iterable<string> = []) {
    this.filters = filters;
    this.#total = totalNodes;
    this.rejectors = new Set(rejectors);
  }

  /** The number of nodes with a reason of their own. */
  get count(): number {
    return this.#nodes.length;
  }

  rejectAll(rejection: Rejection): void {
    this.#general = rejection;
    if (rejection.plugin !== "") this.rejectors.add(rejection.plugin);
  }

  rejectUntried(rejection: Rejection): void {
    this.#untried = rejection;
  }

  reject(node: NodeInfo, rejection: Rejection): void {
    this.#nodes.push(node);
    this.#rejections.push(rejection);
    this.rejectors.add(rejection.plugin);
  }

  /** Why a node is not possible. Undefined if it was not tried. */
  rejectionOf(node: NodeInfo): Rejection | undefined {
    this.#byNode ??= new Map(this.#nodes.map((one, index) => [one, this.#rejections[index] as Rejection]));
    return this.#byNode.get(node) ?? this.#general ?? this.#untried;
  }

  /** As in "0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu." */
  get message(): string {
    const reasons = this.#general ? this.#general.reasons.join(", ") : this.#histogram();
    const parts = [`0/${this.#total} nodes are available:`];
    if (reasons !== "") parts.push(`${reasons}.`);
    if (this.postFilterMessage !== "") parts.push(this.postFilterMessage);
    return parts.join(" ");
  }

  #histogram(): string {
    const counts = new Map<string, number>();
    const count = ({ reasons }: Rejection, times: number) => {
      for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + times);
    };
    for (const rejection of this.#rejections) count(rejection, 1);
    const left = this.#total - this.#nodes.length;
    if (this.#untried && left > 0) count(this.#untried, left);
    const texts = [...counts].map(([reason, times]) => `${times} ${reason}`);
    return texts.sort().join(", ");
  }
}
