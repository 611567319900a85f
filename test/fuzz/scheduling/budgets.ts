import type { Random } from "../random.ts";
import type { Change } from "./changes.ts";

const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/** Creates PodDisruptionBudgets with random rests, which no controller changes. Preemption prefers not to violate them. */
export function budgetChanges(random: Random, seed: number): Change[] {
  return ["web", "db", "cache"].flatMap((app): Change[] => {
    if (!random.chance(0.4)) return [];
    const name = `${app}-${seed}`;
    const disruptionsAllowed = random.below(3);
    const status = {
      ...{ disruptionsAllowed, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
      observedGeneration: 1,
    };
    const spec = { maxUnavailable: 1, selector: { matchLabels: { app } } };
    return [
      { method: "POST", path: BUDGETS, body: { metadata: { name }, spec } },
      { method: "PATCH", path: `${BUDGETS}/${name}/status`, body: { status } },
    ];
  });
}
