import type { NodeInfo } from "../node-info.ts";
import { MAX_SCORE, type Scorer } from "../plugin.ts";
import { hasTopologyKeys, type SpreadConstraint } from "./spread-constraints.ts";

const HOSTNAME = "kubernetes.io/hostname";

/** What a constraint adds to the score of a node. */
interface Part {
  readonly constraint: SpreadConstraint;
  /** Undefined for the hostname: each node is a domain, and its Pods are counted when its score is computed. */
  readonly counts: Map<string, number> | undefined;
  readonly weight: number;
}

/**
 * Prefers domains with few matching Pods. `requiresAll`: nodes without one of the topology keys get 0. The logarithm
 * lets constraints with few domains weigh as much as others.
 */
export function spreadScorer(
  constraints: readonly SpreadConstraint[],
  nodes: readonly NodeInfo[],
  allNodes: readonly NodeInfo[],
  requiresAll: boolean,
): Scorer {
  const isScored = ({ labels }: NodeInfo) => !requiresAll || hasTopologyKeys(labels, constraints);
  const scored = new Set(nodes.filter(isScored));
  const counted = allNodes.filter(isScored);
  const parts = constraints.map((constraint): Part => {
    const { topologyKey } = constraint;
    const counts = topologyKey === HOSTNAME ? undefined : countsOf(constraint, scored, counted);
    return { constraint, counts, weight: Math.log((counts ?? scored).size + 2) };
  });
  return {
    score: (node) => (scored.has(node) ? Math.round(sumOf(parts, node)) : 0),
    normalize: (scores, list) => normalize(scores, (index) => scored.has(list[index] as NodeInfo)),
  };
}

/** The matching Pods of each domain that has a node to be scored. */
function countsOf(
  { topologyKey, countPods, includes }: SpreadConstraint,
  scored: ReadonlySet<NodeInfo>,
  counted: readonly NodeInfo[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { labels } of scored) counts.set(labels[topologyKey] ?? "", 0);
  for (const node of counted) {
    const value = node.labels[topologyKey] ?? "";
    const count = counts.get(value);
    if (count !== undefined && node.node && includes(node.node)) counts.set(value, count + countPods(node));
  }
  return counts;
}

function sumOf(parts: readonly Part[], node: NodeInfo): number {
  let sum = 0;
  for (const { constraint, counts, weight } of parts) {
    const { topologyKey, maxSkew, countPods } = constraint;
    if (!Object.hasOwn(node.labels, topologyKey)) continue;
    const count = counts ? (counts.get(node.labels[topologyKey] ?? "") ?? 0) : countPods(node);
    sum += count * weight + (maxSkew - 1);
  }
  return sum;
}

function normalize(scores: number[], isScored: (index: number) => boolean): void {
  let lowest = Number.MAX_SAFE_INTEGER;
  let highest = 0;
  for (const [index, score] of scores.entries()) {
    if (!isScored(index)) continue;
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  for (const [index, score] of scores.entries()) {
    if (!isScored(index)) scores[index] = 0;
    else if (highest === 0) scores[index] = MAX_SCORE;
    else scores[index] = Math.trunc((MAX_SCORE * (highest + lowest - score)) / highest);
  }
}
