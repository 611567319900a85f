import type { NodeInfo } from "./node-info.ts";
import type { NominatedPods } from "./nominated-pods.ts";
import type { ChangingFilter, Filter, NodeSimulation, PluginFilter, Rejection } from "./plugin.ts";
import type { PodInfo } from "./pod-info.ts";
import { explained } from "./profile.ts";

/** What decides whether a node is possible for a Pod. */
export interface NodeCheck {
  readonly pod: PodInfo;
  readonly filters: readonly PluginFilter[];
  readonly nominated: NominatedPods;
}

/**
 * Why a Pod cannot run on a node. The node must be possible with and without nominated Pods of at least the same
 * priority: they may run there soon, or elsewhere. Upstream: RunFilterPluginsWithNominatedPods
 */
export function checkNode(check: NodeCheck, node: NodeInfo): Rejection | undefined {
  const { pod, filters, nominated } = check;
  const others = nominated.of(node.name);
  if (others) {
    const awaited = [...others.values()].filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
    const rejection = awaited.length > 0 ? checkWith(awaited, filters, node) : undefined;
    if (rejection) return rejection;
  }
  return runFilters(filters, node);
}

function checkWith(pods: readonly PodInfo[], filters: readonly PluginFilter[], node: NodeInfo): Rejection | undefined {
  const world = new World(filters, node);
  for (const pod of pods) world.addPod(pod);
  return runFilters(world.filters, world.node);
}

/** The first rejection by a plugin. */
function runFilters(filters: readonly PluginFilter[], node: NodeInfo): Rejection | undefined {
  for (const { plugin, filter } of filters) {
    let rejection: Rejection | undefined;
    try {
      rejection = filter.check(node);
    } catch (error) {
      throw explained(error, `running ${JSON.stringify(plugin.name)} filter plugin`);
    }
    if (rejection) return rejection;
  }
  return undefined;
}

/** Copies of a node and of the filters. */
class World {
  readonly node: NodeInfo;
  readonly filters: readonly PluginFilter[];
  readonly #changing: ChangingFilter[] = [];

  constructor(filters: readonly PluginFilter[], node: NodeInfo) {
    this.node = node.copy();
    this.filters = filters.map(({ plugin, filter }) => ({ plugin, filter: this.#copy(filter) }));
  }

  addPod(pod: PodInfo): void {
    this.node.addPod(pod);
    for (const filter of this.#changing) filter.addPod(pod, this.node);
  }

  removePod(pod: PodInfo): void {
    this.node.removePod(pod.uid);
    for (const filter of this.#changing) filter.removePod(pod, this.node);
  }

  #copy(filter: Filter): Filter {
    if (filter.copy === undefined) return filter;
    const copy = filter.copy();
    this.#changing.push(copy);
    return copy;
  }
}

/** Simulates changes on a node for a Pod that waits. */
export class Simulation extends World implements NodeSimulation {
  readonly #check: NodeCheck;

  constructor(check: NodeCheck, node: NodeInfo) {
    super(check.filters, node);
    this.#check = { ...check, filters: this.filters };
  }

  check(): Rejection | undefined {
    return checkNode(this.#check, this.node);
  }
}
