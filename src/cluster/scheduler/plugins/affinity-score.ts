import type { Texts } from "../../../kinds/types/meta.ts";
import type { NodeInfo } from "../node-info.ts";
import { perNode } from "../per-node.ts";
import { MAX_SCORE, type Scorer } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import { selectedPods } from "./affinity-filter.ts";
import { type AffinityTerm, affinityTermsOf, matchesTerm, type WeightedTerm } from "./affinity-terms.ts";
import { TopologyCounts } from "./topology-counts.ts";

/** The sum of the weights by which the Pods of a node prefer the Pods that a term selects. */
type TermWeights = ReadonlyMap<AffinityTerm, number>;

/** Returns the weights by term. `hardWeight`: of a required affinity term. */
export function termWeights(hardWeight: number): (node: NodeInfo) => TermWeights {
  return perNode(({ podsWithAffinity }) => {
    const weights = new Map<AffinityTerm, number>();
    const add = (term: AffinityTerm, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight);
    for (const { pod } of podsWithAffinity.values()) {
      const { required, preferred } = affinityTermsOf(pod);
      if (hardWeight > 0) for (const term of required) add(term, hardWeight);
      for (const { term, weight } of preferred) add(term, weight);
    }
    return weights;
  });
}

/** What the scores of nodes for a Pod depend on. */
export interface AffinityPreferences {
  readonly pod: PodInfo;
  /** Preferred terms of the Pod, with the namespaces that they select. */
  readonly preferred: readonly WeightedTerm[];
  readonly namespaceLabels: Texts | undefined;
  readonly weightsOf: (node: NodeInfo) => TermWeights;
}

/** Prefers nodes near Pods that the Pod prefers, or that prefer the Pod. Undefined if there are no such Pods. */
export function affinityScorer(
  preferences: AffinityPreferences,
  nodes: readonly NodeInfo[],
  nodesWithAffinity: Iterable<NodeInfo>,
): Scorer | undefined {
  const sums = new TopologyCounts();
  addOwn(preferences, nodes, sums);
  addExisting(preferences, nodesWithAffinity, sums);
  const { topologyKeys: keys } = sums;
  if (keys.length === 0) return undefined;
  return {
    score(node) {
      let score = 0;
      for (const key of keys) score += sums.of(node, key);
      return score;
    },
    normalize,
  };
}

function addOwn({ preferred }: AffinityPreferences, nodes: readonly NodeInfo[], sums: TopologyCounts): void {
  for (const { term, weight } of preferred) {
    const countPods = selectedPods.of(term.key, ({ pod }) => matchesTerm(term, pod));
    for (const node of nodes) {
      const count = countPods(node);
      if (count > 0) sums.change(node, term.topologyKey, count * weight);
    }
  }
}

function addExisting(preferences: AffinityPreferences, nodes: Iterable<NodeInfo>, sums: TopologyCounts): void {
  const { pod, namespaceLabels, weightsOf } = preferences;
  const matching = new Map<AffinityTerm, boolean>();
  for (const node of nodes) {
    if (node.node === undefined) continue;
    for (const [term, weight] of weightsOf(node)) {
      const isMatching = matching.get(term) ?? matchesTerm(term, pod.pod, namespaceLabels);
      matching.set(term, isMatching);
      if (isMatching) sums.change(node, term.topologyKey, weight);
    }
  }
}

function normalize(scores: number[]): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (const score of scores) {
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  const range = highest - lowest;
  for (const [index, score] of scores.entries()) {
    scores[index] = range > 0 ? Math.trunc(MAX_SCORE * ((score - lowest) / range)) : 0;
  }
}
