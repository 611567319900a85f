import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import type { LabelSelector } from "../../../../kinds/types/meta.ts";

/** PodDisruptionBudget of policy/v1. */
export interface DisruptionBudget extends KubeObject {
  spec: {
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    selector?: LabelSelector;
  };
  status?: BudgetStatus;
}

/** PodDisruptionBudgetStatus of policy/v1. */
export interface BudgetStatus extends JsonObject {
  observedGeneration?: number;
  disruptedPods?: Record<string, string>;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  expectedPods?: number;
  conditions?: BudgetCondition[];
}

/** Condition of meta/v1. */
export interface BudgetCondition extends JsonObject {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}
