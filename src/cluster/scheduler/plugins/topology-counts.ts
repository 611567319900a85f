import type { NodeInfo } from "../node-info.ts";

/** Counts of domains: sets of nodes with the same value of a label. A copy has only its changes. */
export class TopologyCounts {
  readonly #base: TopologyCounts | undefined;
  readonly #counts = new Map<string, Map<string, number>>();
  /** The label names that domains have. */
  readonly topologyKeys: string[];
  /** How many domains have a count other than 0. */
  #domains: number;

  constructor(base?: TopologyCounts) {
    this.#base = base;
    this.topologyKeys = [...(base?.topologyKeys ?? [])];
    this.#domains = base === undefined ? 0 : base.#domains;
  }

  /** Whether all counts are 0. */
  get isZero(): boolean {
    return this.#domains === 0;
  }

  /** The count of the domain of a node. 0 if the node has no such label. */
  of(node: NodeInfo, topologyKey: string): number {
    return Object.hasOwn(node.labels, topologyKey) ? this.#count(topologyKey, node.labels[topologyKey] ?? "") : 0;
  }

  /** Changes the count of the domain of a node, if the node has the label. */
  change({ labels }: NodeInfo, topologyKey: string, by: number): void {
    if (!Object.hasOwn(labels, topologyKey)) return;
    const value = labels[topologyKey] ?? "";
    const before = this.#count(topologyKey, value);
    const counts = this.#counts.get(topologyKey) ?? new Map<string, number>();
    this.#counts.set(topologyKey, counts);
    if (!this.topologyKeys.includes(topologyKey)) this.topologyKeys.push(topologyKey);
    counts.set(value, (counts.get(value) ?? 0) + by);
    if (before === 0 && by !== 0) this.#domains += 1;
    if (before !== 0 && before + by === 0) this.#domains -= 1;
  }

  copy(): TopologyCounts {
    return new TopologyCounts(this);
  }

  #count(topologyKey: string, value: string): number {
    const own = this.#counts.get(topologyKey)?.get(value) ?? 0;
    return this.#base === undefined ? own : own + this.#base.#count(topologyKey, value);
  }
}
