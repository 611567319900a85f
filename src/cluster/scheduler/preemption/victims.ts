import type { NodeInfo } from "../node-info.ts";
import { type FailedAttempt, type Rejection, unresolvable } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import type { Budgets } from "./budgets.ts";
import { byImportance } from "./importance.ts";

/** Pods whose removal makes a node possible. */
export interface Candidate {
  readonly node: NodeInfo;
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  /** How many victims a PodDisruptionBudget protects. */
  readonly violations: number;
}

const NO_VICTIMS = unresolvable("DefaultPreemption", "No preemption victims found for incoming pod");

/**
 * Finds the fewest and least important Pods of a lower priority that must leave a node. Returns why there are none.
 *
 * Upstream: SelectVictimsOnNode
 */
export function selectVictims(
  attempt: FailedAttempt,
  node: NodeInfo,
  budgets: Budgets,
  nowMs: number,
): Candidate | Rejection {
  const possible = [...node.pods.values()].filter(({ priority }) => priority < attempt.pod.priority);
  if (possible.length === 0) return NO_VICTIMS;
  const simulation = attempt.simulate(node);
  for (const pod of possible) simulation.removePod(pod);
  const rejection = simulation.check();
  if (rejection) return rejection;
  possible.sort(byImportance(nowMs));
  const { violating, others } = budgets.split(possible);
  const victims: PodInfo[] = [];
  let violations = 0;
  // Protected Pods may stay first, then all others, each from the most important on.
  for (const pod of [...violating, ...others]) {
    simulation.addPod(pod);
    if (simulation.check() === undefined) continue;
    simulation.removePod(pod);
    victims.push(pod);
    if (violating.has(pod)) violations += 1;
  }
  return { node, victims: victims.sort(byImportance(nowMs)), violations };
}
