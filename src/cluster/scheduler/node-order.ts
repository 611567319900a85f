import type { NodeInfo } from "./node-info.ts";

/**
 * The order in which nodes are tried: one of each zone in turn, so that the first nodes are of different zones.
 *
 * Upstream: nodeTree
 */
export class NodeOrder {
  readonly #zones = new Map<string, Set<NodeInfo>>();
  readonly #zoneOf = new Map<NodeInfo, string>();
  #list: NodeInfo[] | undefined;

  /** Adds a node, or moves it if its zone has changed. */
  set(node: NodeInfo): void {
    const zone = zoneOf(node.labels);
    if (this.#zoneOf.get(node) === zone) return;
    this.delete(node);
    this.#zoneOf.set(node, zone);
    const nodes = this.#zones.get(zone);
    if (nodes) nodes.add(node);
    else this.#zones.set(zone, new Set([node]));
    this.#list = undefined;
  }

  delete(node: NodeInfo): void {
    const zone = this.#zoneOf.get(node);
    if (zone === undefined) return;
    this.#zoneOf.delete(node);
    const nodes = this.#zones.get(zone);
    nodes?.delete(node);
    if (nodes?.size === 0) this.#zones.delete(zone);
    this.#list = undefined;
  }

  /** All nodes in order. Computed only after a node was added or removed. */
  list(): readonly NodeInfo[] {
    this.#list ??= interleaved([...this.#zones.values()]);
    return this.#list;
  }
}

function interleaved(zones: readonly ReadonlySet<NodeInfo>[]): NodeInfo[] {
  const list: NodeInfo[] = [];
  let iterators = zones.map((nodes) => nodes.values());
  while (iterators.length > 0) {
    iterators = iterators.filter((nodes) => {
      const next = nodes.next();
      if (!next.done) list.push(next.value);
      return !next.done;
    });
  }
  return list;
}

/** Upstream: GetZoneKey */
function zoneOf(labels: Readonly<Record<string, string>>): string {
  const zone = labels["failure-domain.beta.kubernetes.io/zone"] ?? labels["topology.kubernetes.io/zone"] ?? "";
  const region = labels["failure-domain.beta.kubernetes.io/region"] ?? labels["topology.kubernetes.io/region"] ?? "";
  return zone === "" && region === "" ? "" : `${region}\0${zone}`;
}
