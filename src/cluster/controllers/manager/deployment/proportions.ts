import type { Deployment, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { byCreation } from "../../shared/order.ts";
import { maxSurge, sizeOf, sum } from "./limits.ts";
import { maxReplicas } from "./revisions.ts";

/**
 * The sizes of the active ReplicaSets after a Deployment was scaled in the middle of a rollout: each gets its share of the
 * difference, the largest also the rest.
 */
export function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const { replicas = 1 } = deployment.spec;
  const allowed = replicas > 0 ? replicas + maxSurge(deployment) : 0;
  const missing = allowed - sum(active, sizeOf);
  if (missing === 0) return active.map((set) => [set, sizeOf(set)]);
  const isGrowing = missing > 0;
  const ordered = [...active].sort((one, other) => {
    const age = byCreation(one, other);
    return sizeOf(other) - sizeOf(one) || (isGrowing ? -age : age);
  });
  let rest = missing;
  const sizes = ordered.map((set): [ReplicaSet, number] => {
    const share = rest === 0 || sizeOf(set) === 0 ? 0 : shareOf(deployment, set);
    const added = isGrowing ? Math.min(share, rest) : Math.max(share, rest);
    const given = rest === 0 ? 0 : added;
    rest -= given;
    return [set, sizeOf(set) + given];
  });
  const [largest] = sizes;
  if (largest) largest[1] = Math.max(0, largest[1] + rest);
  return sizes;
}

/** How much a ReplicaSet would change to keep its part of the Deployment. */
function shareOf(deployment: Deployment, set: ReplicaSet): number {
  const { spec, status } = deployment;
  const { replicas = 1 } = spec;
  const size = sizeOf(set);
  if (replicas === 0) return -size;
  const total = maxReplicas(set) || (status?.replicas ?? 0);
  if (total === 0) return 0;
  return roundHalfAwayFromZero((size * (replicas + maxSurge(deployment))) / total) - size;
}

function roundHalfAwayFromZero(x: number): number {
  return x < 0 ? -Math.floor(-x + 0.5) : Math.floor(x + 0.5);
}
