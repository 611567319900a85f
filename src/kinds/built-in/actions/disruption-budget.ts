import { type ApiError, forbidden, tooManyRequests } from "../../../base/api/api-error.ts";
import { matchesLabels } from "../../../base/api/label-selector.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { findCondition, readNumber, readText } from "../cells.ts";
import type { Condition } from "../shared-rules/conditions.ts";

const GROUP = "policy";
const PLURAL = "poddisruptionbudgets";
const MAX_DISRUPTED = 2000;
const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";
const ALLOWED = "DisruptionAllowed";

/** The PodDisruptionBudgets that select a pod. */
export async function budgetsOf(pod: KubeObject, access: ObjectAccess): Promise<KubeObject[]> {
  const budgets = await access.list(GROUP, PLURAL, pod.metadata.namespace ?? "");
  return budgets.filter(({ spec }) => {
    const selector = isObject(spec) ? spec.selector : undefined;
    const requirements = isObject(selector) ? readSelectorObject(selector) : undefined;
    return requirements !== undefined && matchesLabels(requirements, pod.metadata.labels);
  });
}

/** Whether `unhealthyPodEvictionPolicy` is AlwaysAllow. */
export function alwaysAllowsUnhealthyPods(budget: KubeObject): boolean {
  return readText(budget, ".spec.unhealthyPodEvictionPolicy") === "AlwaysAllow";
}

/** Whether currentHealthy has reached a desiredHealthy above 0. */
export function isBudgetMet(budget: KubeObject): boolean {
  const desired = readNumber(budget, ".status.desiredHealthy");
  return desired > 0 && readNumber(budget, ".status.currentHealthy") >= desired;
}

/**
 * Uses one of `disruptionsAllowed` for a pod and records it in `disruptedPods`. Throws 429 TooManyRequests if none is
 * left. Upstream: `checkAndDecrement`.
 */
export async function checkAndDecrement(
  budget: KubeObject,
  pod: KubeObject,
  access: ObjectAccess,
  dryRun: boolean,
): Promise<void> {
  if (dryRun) {
    checkBudget(budget);
    return;
  }
  const { namespace = "", name = "" } = budget.metadata;
  const change = (current: KubeObject) => {
    checkBudget(current);
    return decremented(current, pod.metadata.name ?? "", access.clock.now());
  };
  await access.update(GROUP, PLURAL, { namespace, name }, change, { subresource: "status" });
}

const causes = (message: string) => [{ reason: "DisruptionBudget", message }];

/** 429 while the disruption controller has not observed the PodDisruptionBudget's generation. */
export function budgetStillProcessed(name: string): ApiError {
  return tooManyRequests(VIOLATES, 10, causes(`The disruption budget ${name} is still being processed by the server.`));
}

function checkBudget(budget: KubeObject): void {
  const { name = "", generation = 0 } = budget.metadata;
  if (readNumber(budget, ".status.observedGeneration") < generation) throw budgetStillProcessed(name);
  const allowed = readNumber(budget, ".status.disruptionsAllowed");
  const status: JsonObject = isObject(budget.status) ? budget.status : {};
  const target = { group: GROUP, resource: "poddisruptionbudget" };
  const currently = `The disruption budget ${name} does not allow evicting pods currently`;
  if (allowed < 0) {
    const text = "pdb disruptions allowed is negative";
    throw forbidden(target, name, text, causes(`${currently}: ${text}`));
  }
  if (isObject(status.disruptedPods) && Object.keys(status.disruptedPods).length > MAX_DISRUPTED) {
    const text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden(
      target,
      name,
      text,
      causes(`${currently}: too many pending evictions not confirmed by PDB controller`),
    );
  }
  if (allowed === 0) throw tooManyRequests(VIOLATES, 0, causes(reasonOf(budget, currently)));
}

function reasonOf(budget: KubeObject, currently: string): string {
  const { message = "", reason = "", status }: Condition = findCondition(budget, ALLOWED) ?? {};
  const isTold = status === "False" && message !== "";
  if (isTold && reason === "SyncFailed") return `${currently} because it failed sync: ${message}`;
  const healthy = readNumber(budget, ".status.currentHealthy");
  const desired = readNumber(budget, ".status.desiredHealthy");
  if (healthy <= desired) {
    return `The disruption budget ${budget.metadata.name} needs ${desired} healthy pods and has ${healthy} currently`;
  }
  return isTold ? `${currently} (${reason}): ${message}` : currently;
}

function decremented(budget: KubeObject, podName: string, now: number): KubeObject {
  const status: JsonObject = isObject(budget.status) ? budget.status : {};
  const disruptionsAllowed = readNumber(budget, ".status.disruptionsAllowed") - 1;
  const disrupted = isObject(status.disruptedPods) ? status.disruptedPods : {};
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed,
      ...(disruptionsAllowed === 0 ? { conditions: exhausted(budget, now) } : {}),
      disruptedPods: { ...disrupted, [podName]: printTime(now) },
    },
  };
}

function exhausted(budget: KubeObject, now: number): JsonObject[] {
  const status: JsonObject = isObject(budget.status) ? budget.status : {};
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).filter(isObject);
  const old = conditions.find(({ type }) => type === ALLOWED);
  const observedGeneration = readNumber(budget, ".status.observedGeneration");
  const condition: JsonObject = {
    type: ALLOWED,
    status: "False",
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    lastTransitionTime: old?.status === "False" ? old.lastTransitionTime : printTime(now),
    reason: "InsufficientPods",
    message: "",
  };
  return old ? conditions.map((one) => (one === old ? condition : one)) : [...conditions, condition];
}
