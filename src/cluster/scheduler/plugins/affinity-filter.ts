import type { Texts } from "../../../kinds/types/meta.ts";
import type { ClusterState } from "../cluster-state.ts";
import type { NodeInfo } from "../node-info.ts";
import { perNode } from "../per-node.ts";
import { type ChangingFilter, type Rejection, unresolvable, unschedulable } from "../plugin.ts";
import { PodCounters } from "../pod-counter.ts";
import type { PodInfo } from "../pod-info.ts";
import { type AffinityTerm, affinityTermsOf, matchesAllTerms, matchesTerm } from "./affinity-terms.ts";
import { TopologyCounts } from "./topology-counts.ts";

const NAME = "InterPodAffinity";
const NO_AFFINITY = unresolvable(NAME, "node(s) didn't match pod affinity rules");
const ANTI_AFFINITY = unschedulable(NAME, "node(s) didn't match pod anti-affinity rules");
const EXISTING = unschedulable(NAME, "node(s) didn't satisfy existing pods anti-affinity rules");

/** Counts Pods that terms select. */
export const selectedPods = new PodCounters();

/** The required anti-affinity of the Pods of a node: how many Pods have each term. */
const antiTermsOf = perNode(({ podsWithRequiredAntiAffinity }) => {
  const counts = new Map<AffinityTerm, number>();
  for (const { pod } of podsWithRequiredAntiAffinity.values()) {
    for (const term of affinityTermsOf(pod).requiredAnti) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
});

/** What a Pod requires of other Pods, and they of it. */
interface Requirements {
  readonly pod: PodInfo;
  /** With the namespaces that they select. */
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly namespaceLabels: Texts | undefined;
}

/** Rejects nodes by required affinity and anti-affinity between Pods. */
export class AffinityFilter implements ChangingFilter {
  readonly #requirements: Requirements;
  /** Pods that all affinity terms select. */
  readonly #affinity: TopologyCounts;
  /** Pods that an anti-affinity term selects. */
  readonly #antiAffinity: TopologyCounts;
  /** Anti-affinity terms of other Pods that select the Pod. */
  readonly #existing: TopologyCounts;
  readonly #matchesItself: boolean;

  constructor(requirements: Requirements, counts: readonly [TopologyCounts, TopologyCounts, TopologyCounts]) {
    this.#requirements = requirements;
    [this.#affinity, this.#antiAffinity, this.#existing] = counts;
    this.#matchesItself = matchesAllTerms(requirements.affinity, requirements.pod.pod);
  }

  check(node: NodeInfo): Rejection | undefined {
    if (!this.#hasAffinity(node)) return NO_AFFINITY;
    const { antiAffinity } = this.#requirements;
    if (antiAffinity.some(({ topologyKey }) => this.#antiAffinity.of(node, topologyKey) > 0)) return ANTI_AFFINITY;
    if (this.#existing.isZero) return undefined;
    for (const key of this.#existing.topologyKeys) if (this.#existing.of(node, key) > 0) return EXISTING;
    return undefined;
  }

  copy(): AffinityFilter {
    const counts = [this.#affinity.copy(), this.#antiAffinity.copy(), this.#existing.copy()] as const;
    return new AffinityFilter(this.#requirements, counts);
  }

  addPod(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, 1);
  }

  removePod(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, -1);
  }

  /** A Pod with affinity to itself may be the first of its kind. */
  #hasAffinity(node: NodeInfo): boolean {
    const { affinity } = this.#requirements;
    if (affinity.some(({ topologyKey }) => !Object.hasOwn(node.labels, topologyKey))) return false;
    if (affinity.every(({ topologyKey }) => this.#affinity.of(node, topologyKey) > 0)) return true;
    return this.#affinity.isZero && this.#matchesItself;
  }

  #change({ pod: other }: PodInfo, node: NodeInfo, by: number): void {
    const { pod, affinity, antiAffinity, namespaceLabels } = this.#requirements;
    for (const term of affinityTermsOf(other).requiredAnti) {
      if (matchesTerm(term, pod.pod, namespaceLabels)) this.#existing.change(node, term.topologyKey, by);
    }
    if (matchesAllTerms(affinity, other)) {
      for (const { topologyKey } of affinity) this.#affinity.change(node, topologyKey, by);
    }
    for (const term of antiAffinity) {
      if (matchesTerm(term, other)) this.#antiAffinity.change(node, term.topologyKey, by);
    }
  }
}

/** Undefined if neither the Pod nor other Pods require anything. */
export function affinityFilter(requirements: Requirements, cluster: ClusterState): AffinityFilter | undefined {
  const { affinity, antiAffinity } = requirements;
  const existing = countExisting(requirements, cluster.nodesWithRequiredAntiAffinity);
  if (existing.isZero && affinity.length === 0 && antiAffinity.length === 0) return undefined;
  const together = new TopologyCounts();
  const apart = new TopologyCounts();
  if (affinity.length > 0) {
    const key = affinity.map((term) => term.key).join("\n");
    const countPods = selectedPods.of(key, ({ pod }) => matchesAllTerms(affinity, pod));
    for (const { topologyKey } of affinity) addCounts(together, topologyKey, countPods, cluster.nodes);
  }
  for (const term of antiAffinity) {
    const countPods = selectedPods.of(term.key, ({ pod }) => matchesTerm(term, pod));
    addCounts(apart, term.topologyKey, countPods, cluster.nodes);
  }
  return new AffinityFilter(requirements, [together, apart, existing]);
}

function addCounts(
  counts: TopologyCounts,
  topologyKey: string,
  countPods: (node: NodeInfo) => number,
  nodes: readonly NodeInfo[],
): void {
  for (const node of nodes) {
    const count = countPods(node);
    if (count > 0) counts.change(node, topologyKey, count);
  }
}

function countExisting({ pod, namespaceLabels }: Requirements, nodes: Iterable<NodeInfo>): TopologyCounts {
  const counts = new TopologyCounts();
  const matching = new Map<AffinityTerm, boolean>();
  for (const node of nodes) {
    if (node.node === undefined) continue;
    for (const [term, count] of antiTermsOf(node)) {
      const isMatching = matching.get(term) ?? matchesTerm(term, pod.pod, namespaceLabels);
      matching.set(term, isMatching);
      if (isMatching) counts.change(node, term.topologyKey, count);
    }
  }
  return counts;
}
