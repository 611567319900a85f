import { MAX_SCORE, type MakePlugin } from "../plugin.ts";
import { amountOf } from "../resource-totals.ts";
import { type ResourceSpec, type UsageScore, usageScorer } from "./resource-scores.ts";

/** NodeResourcesBalancedAllocationArgs of kubescheduler.config.k8s.io. */
export interface BalancedAllocationArgs {
  readonly resources: readonly ResourceSpec[];
}

/** Default arguments. */
export const BALANCED_ARGS: BalancedAllocationArgs = { resources: [{ name: "cpu" }, { name: "memory" }] };

/** Prefers nodes where the Pod makes the shares of used resources more equal. */
export const nodeResourcesBalancedAllocation: MakePlugin<BalancedAllocationArgs> = (_, { resources }) => ({
  name: "NodeResourcesBalancedAllocation",
  score({ requests }) {
    if (resources.every(({ name }) => amountOf(requests, name) === 0)) return undefined;
    return { score: usageScorer(resources, requests, ({ requested }) => requested, balance) };
  },
});

/** From 50 to 100. 75 if the Pod changes nothing. Upstream: balancedResourceScorer */
const balance: UsageScore = ({ allocatable, before, after }) => {
  const gain = evenness(after, allocatable) - evenness(before, allocatable);
  return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + gain) / 2);
};

/** 100 minus the standard deviation of the shares, in percent. Upstream: balancedResourceScore */
function evenness(used: readonly number[], allocatable: readonly number[]): number {
  return Math.trunc((1 - deviation(used, allocatable)) * MAX_SCORE);
}

function deviation(used: readonly number[], allocatable: readonly number[]): number {
  if (allocatable.length === 2) {
    const [one, other] = [shareOf(used, allocatable, 0), shareOf(used, allocatable, 1)];
    return Number.isNaN(one) || Number.isNaN(other) ? 0 : Math.abs((one - other) / 2);
  }
  const shares = used.map((_, index) => shareOf(used, allocatable, index)).filter((share) => !Number.isNaN(share));
  const [one = 0, other = 0] = shares;
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs((one - other) / 2);
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) * (share - mean), 0) / shares.length);
}

/** NaN if the node does not have the resource. */
function shareOf(used: readonly number[], allocatable: readonly number[], index: number): number {
  return Math.min(1, (used[index] ?? 0) / (allocatable[index] || Number.NaN));
}
