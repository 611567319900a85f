import type { NodeInfo } from "../node-info.ts";
import { MAX_SCORE } from "../plugin.ts";
import { amountOf, isScalar, type ResourceTotals } from "../resource-totals.ts";

/** ResourceSpec of kubescheduler.config.k8s.io. */
export interface ResourceSpec {
  readonly name: string;
  readonly weight?: number;
}

/** How much of each resource a node has, and how much is requested. One per scorer, filled again for each node. */
export interface Usage {
  readonly resources: readonly ResourceSpec[];
  /** 0 for a resource that does not count. */
  readonly allocatable: number[];
  /** Without the Pod. */
  readonly before: number[];
  /** With the Pod. */
  readonly after: number[];
}

/** A score of a node by its usage. */
export type UsageScore = (usage: Usage) => number;

/** Returns a function that scores nodes for a Pod. `used`: what counts as used on a node. */
export function usageScorer(
  resources: readonly ResourceSpec[],
  requests: ResourceTotals,
  used: (node: NodeInfo) => ResourceTotals,
  scoreOf: UsageScore,
): (node: NodeInfo) => number {
  const zeros = () => resources.map(() => 0);
  const usage: Usage = { resources, allocatable: zeros(), before: zeros(), after: zeros() };
  const wanted = resources.map(({ name }) => amountOf(requests, name));
  const isIgnored = resources.map(({ name }, index) => wanted[index] === 0 && isScalar(name));
  // Runs for every node of every Pod, so it creates no objects.
  return (node) => {
    for (let index = 0; index < resources.length; index++) {
      const { name } = resources[index] as ResourceSpec;
      const total = isIgnored[index] ? 0 : amountOf(node.allocatable, name);
      // Only cpu and memory have a minimum.
      const totals = name === "cpu" || name === "memory" ? used(node) : node.requested;
      const before = total === 0 ? 0 : amountOf(totals, name);
      usage.allocatable[index] = total;
      usage.before[index] = before;
      usage.after[index] = total === 0 ? 0 : before + (wanted[index] ?? 0);
    }
    return scoreOf(usage);
  };
}

/** The weighted mean of a score per resource. */
function weighted({ resources, allocatable, after }: Usage, scoreOf: (after: number, total: number) => number): number {
  let sum = 0;
  let weights = 0;
  for (let index = 0; index < resources.length; index++) {
    const { weight = 1 } = resources[index] as ResourceSpec;
    const total = allocatable[index] ?? 0;
    if (total === 0) continue;
    sum += scoreOf(after[index] ?? 0, total) * weight;
    weights += weight;
  }
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

/** Prefers nodes with much left. Upstream: leastResourceScorer */
export const leastAllocated: UsageScore = (usage) =>
  weighted(usage, (after, total) => (after > total ? 0 : Math.trunc(((total - after) * MAX_SCORE) / total)));

/** Prefers nodes with little left. Upstream: mostResourceScorer */
export const mostAllocated: UsageScore = (usage) =>
  weighted(usage, (after, total) => Math.trunc((Math.min(after, total) * MAX_SCORE) / total));

/** UtilizationShapePoint of kubescheduler.config.k8s.io. */
export interface ShapePoint {
  /** Percent of a resource that is used. */
  readonly utilization: number;
  /** From 0 to 10. */
  readonly score: number;
}

/** Scores by a function of the utilization, given by points. Upstream: requestedToCapacityRatioScorer */
export function requestedToCapacityRatio(shape: readonly ShapePoint[]): UsageScore {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * (MAX_SCORE / 10) }));
  return ({ resources, allocatable, after }) => {
    let [sum, weights] = [0, 0];
    for (const [index, { weight = 1 }] of resources.entries()) {
      const total = allocatable[index] ?? 0;
      if (total === 0) continue;
      const score = interpolate(points, Math.min(100, Math.trunc(((after[index] ?? 0) * 100) / total)));
      if (score <= 0) continue;
      sum += score * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : Math.round(sum / weights);
  };
}

/** The score at a utilization, on the lines between points. Upstream: BuildBrokenLinearFunction */
export function interpolate(points: readonly ShapePoint[], utilization: number): number {
  let before: ShapePoint | undefined;
  for (const point of points) {
    if (utilization <= point.utilization) {
      if (before === undefined) return point.score;
      const [rise, run] = [point.score - before.score, point.utilization - before.utilization];
      return before.score + Math.trunc((rise * (utilization - before.utilization)) / run);
    }
    before = point;
  }
  return before?.score ?? 0;
}
