import type { NodeInfo } from "./node-info.ts";
import type { PluginFilter, Rejection } from "./plugin.ts";

/** The result of an attempt in which no node was possible. Upstream: FitError and Diagnosis */
export class Unfit {
  readonly filters: readonly PluginFilter[];
  readonly #total: number;
  readonly #naming: Iterable<string>;
  readonly #nodes: NodeInfo[] = [];
  readonly #rejections: Rejection[] = [];
  #byNode: Map<NodeInfo, Rejection> | undefined;
  /** Of a plugin that rejected all nodes at once. */
  #general: Rejection | undefined;
  /** Of nodes that were not tried because plugins named others. */
  #untried: Rejection | undefined;
  /** What plugins say that tried to make a node possible. */
  postFilterMessage = "";

  /** `naming`: plugins that name the only possible nodes. */
  constructor(filters: readonly PluginFilter[], totalNodes: number, naming: Iterable<string> = []) {
    this.filters = filters;
    this.#total = totalNodes;
    this.#naming = naming;
  }

  /** Names of the plugins that rejected the Pod. */
  get rejectors(): Set<string> {
    const plugins = [...new Set(this.#rejections), ...(this.#general ? [this.#general] : [])].map(
      ({ plugin }) => plugin,
    );
    return new Set([...this.#naming, ...plugins].filter((plugin) => plugin !== ""));
  }

  /** The number of nodes with a reason of their own. */
  get count(): number {
    return this.#nodes.length;
  }

  /** Set if all nodes were rejected at once. */
  get general(): Rejection | undefined {
    return this.#general;
  }

  rejectAll(rejection: Rejection): void {
    this.#general = rejection;
  }

  rejectUntried(rejection: Rejection): void {
    this.#untried = rejection;
  }

  reject(node: NodeInfo, rejection: Rejection): void {
    this.#nodes.push(node);
    this.#rejections.push(rejection);
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
    const count = ({ reasons }: Rejection, nodes: number) => {
      for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + nodes);
    };
    const times = new Map<Rejection, number>();
    for (const rejection of this.#rejections) times.set(rejection, (times.get(rejection) ?? 0) + 1);
    for (const [rejection, number] of times) count(rejection, number);
    const left = this.#total - this.#nodes.length;
    if (this.#untried && left > 0) count(this.#untried, left);
    const texts = [...counts].map(([reason, nodes]) => `${nodes} ${reason}`);
    return texts.sort().join(", ");
  }
}
