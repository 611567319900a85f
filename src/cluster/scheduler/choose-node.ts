import { checkNode, type NodeCheck } from "./check-node.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { NodeInfo } from "./node-info.ts";
import type { NominatedPods } from "./nominated-pods.ts";
import { type PluginFilter, type Rejection, unresolvable } from "./plugin.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Profile } from "./profile.ts";
import { Unfit } from "./unfit.ts";

/** A node for a Pod. */
export interface Choice {
  readonly node: NodeInfo;
  readonly filters: readonly PluginFilter[];
}

/** So many possible nodes are enough to choose from. */
const ENOUGH_NODES = 100;
const MIN_PERCENTAGE = 5;

/** Thrown if there are no nodes at all. Upstream: ErrNoNodesAvailable */
export class NoNodes extends Error {
  constructor() {
    super("no nodes available to schedule pods");
  }
}

/** Finds the best node for a Pod. Upstream: schedulePod */
export class NodeChooser {
  readonly #cluster: ClusterState;
  readonly #nominated: NominatedPods;
  /** Where the search begins, so that all nodes have the same chance if a search does not try all of them. */
  #start = 0;

  constructor(cluster: ClusterState, nominated: NominatedPods) {
    this.#cluster = cluster;
    this.#nominated = nominated;
  }

  /** Returns an Unfit if no node is possible. Throws errors of plugins, and NoNodes. */
  choose(pod: PodInfo, profile: Profile): Choice | Unfit {
    const total = this.#cluster.nodes.length;
    if (total === 0) throw new NoNodes();
    const filters = profile.filters(pod);
    const limits = limitsOf(filters);
    const unfit = new Unfit(filters, total, limits.plugins);
    if (limits.rejection) {
      unfit.rejectAll(limits.rejection);
      return unfit;
    }
    const check = { pod, filters, nominated: this.#nominated };
    const possible = this.#nominatedNode(check) ?? this.#possible(check, profile, limits, unfit);
    const [only] = possible;
    if (only === undefined) return unfit;
    return { node: possible.length === 1 ? only : best(profile.scores(pod, possible, filters), possible), filters };
  }

  /** The node that the Pod was nominated for, if it is possible. */
  #nominatedNode(check: NodeCheck): NodeInfo[] | undefined {
    const name = check.pod.pod.status?.nominatedNodeName;
    const node = name ? this.#cluster.node(name) : undefined;
    return node && checkNode(check, node) === undefined ? [node] : undefined;
  }

  /** The possible nodes, or as many of them as are enough. */
  #possible(
    check: NodeCheck,
    { percentageOfNodesToScore }: Profile,
    { nodeNames, plugins }: Limits,
    unfit: Unfit,
  ): NodeInfo[] {
    const { nodes: all } = this.#cluster;
    let nodes = all;
    if (nodeNames) {
      nodes = [...nodeNames].flatMap((name) => this.#cluster.node(name) ?? []);
      unfit.rejectUntried(unresolvable("", `node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(" ")}]`));
    }
    const enough = enoughNodes(nodes.length, percentageOfNodesToScore);
    const possible: NodeInfo[] = [];
    for (let index = 0; index < nodes.length && possible.length < enough; index++) {
      const node = nodes[(this.#start + index) % nodes.length] as NodeInfo;
      const rejection = checkNode(check, node);
      if (rejection) unfit.reject(node, rejection);
      else possible.push(node);
    }
    this.#start = (this.#start + possible.length + unfit.count) % all.length;
    return possible;
  }
}

/** What plugins say before they see a node. */
interface Limits {
  /** Set if no node is possible. */
  readonly rejection?: Rejection;
  /** The only possible nodes. Absent: all. */
  readonly nodeNames?: ReadonlySet<string>;
  /** The plugins that name nodes. */
  readonly plugins: ReadonlySet<string>;
}

/** Upstream: RunPreFilterPlugins */
function limitsOf(filters: readonly PluginFilter[]): Limits {
  let nodeNames: ReadonlySet<string> | undefined;
  let last: Rejection | undefined;
  const plugins = new Set<string>();
  for (const { plugin, filter } of filters) {
    if (filter.rejection?.isUnresolvable) return { rejection: filter.rejection, plugins: new Set() };
    if (filter.rejection) last = filter.rejection;
    if (filter.rejection || filter.nodeNames === undefined) continue;
    plugins.add(plugin.name);
    const others = nodeNames;
    nodeNames = others ? new Set([...others].filter((name) => filter.nodeNames?.has(name))) : filter.nodeNames;
    if (nodeNames.size > 0) continue;
    const names = [...plugins].sort();
    const what = names.length === 1 ? `plugin ${names[0]}` : `plugin(s) [${names.join(" ")}] simultaneously`;
    return { rejection: unresolvable("", `node(s) didn't satisfy ${what}`), plugins };
  }
  return { ...(last && { rejection: last }), ...(nodeNames && { nodeNames }), plugins };
}

/** Upstream: numFeasibleNodesToFind */
function enoughNodes(total: number, percentage: number): number {
  if (total < ENOUGH_NODES) return total;
  const adaptive = Math.max(MIN_PERCENTAGE, 50 - Math.trunc(total / 125));
  return Math.max(ENOUGH_NODES, Math.trunc((total * (percentage || adaptive)) / 100));
}

/** The first node with the highest score. */
function best(scores: readonly number[], nodes: readonly NodeInfo[]): NodeInfo {
  let at = 0;
  for (let index = 1; index < scores.length; index++) if ((scores[index] ?? 0) > (scores[at] ?? 0)) at = index;
  return nodes[at] as NodeInfo;
}
