import { matchesLabels } from "../../../base/api/label-selector.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { DisruptionBudget } from "../../controllers/manager/disruption/budget-types.ts";
import type { PodInfo } from "../pod-info.ts";

/** How many Pods PodDisruptionBudgets allow to remove. */
export class Budgets {
  readonly #ofNamespace: (namespace: string) => Iterable<DisruptionBudget>;

  constructor(ofNamespace: (namespace: string) => Iterable<DisruptionBudget>) {
    this.#ofNamespace = ofNamespace;
  }

  /** Separates Pods whose removal violates a budget, if all Pods before are removed. Upstream: FilterVictimsWithPDBViolation */
  split(pods: readonly PodInfo[]): { violating: ReadonlySet<PodInfo>; others: readonly PodInfo[] } {
    const left = new Map<DisruptionBudget, number>();
    const violating = new Set(pods.filter((pod) => this.#isViolating(pod, left)));
    return { violating, others: pods.filter((pod) => !violating.has(pod)) };
  }

  #isViolating({ pod, namespace, name }: PodInfo, left: Map<DisruptionBudget, number>): boolean {
    const { labels = {} } = pod.metadata;
    if (Object.keys(labels).length === 0) return false;
    for (const budget of this.#ofNamespace(namespace)) {
      const selector = readSelectorObject(budget.spec.selector);
      if (selector === undefined || selector.length === 0 || !matchesLabels(selector, labels)) continue;
      const { disruptedPods = {}, disruptionsAllowed = 0 } = budget.status ?? {};
      if (Object.hasOwn(disruptedPods, name)) continue;
      const rest = (left.get(budget) ?? disruptionsAllowed) - 1;
      left.set(budget, rest);
      if (rest < 0) return true;
    }
    return false;
  }
}
