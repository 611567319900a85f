import { isDeepStrictEqual } from "node:util";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { isReady } from "../../shared/pods.ts";
import type { BudgetCondition, BudgetStatus, DisruptionBudget } from "./budget-types.ts";

/** How long an evicted Pod may take until it is marked for deletion. Upstream: DeletionTimeout */
export const DELETION_TIMEOUT_MS = 120_000;
const ALLOWED = "DisruptionAllowed";

/** How many Pods there should be, and how many of them healthy. */
export interface Expectation {
  readonly expected: number;
  readonly desired: number;
}

/** The evicted Pods of a budget that still run. */
export interface Disrupted {
  readonly pods: Record<string, string>;
  /** Pods that were not deleted in time. */
  readonly late: Pod[];
  /** Milliseconds until the next one is late. */
  readonly nextMs: number | undefined;
}

/** Upstream: buildDisruptedPodMap */
export function disruptedPods({ status }: DisruptionBudget, pods: readonly Pod[], nowMs: number): Disrupted {
  const known = status?.disruptedPods ?? {};
  const kept: Record<string, string> = {};
  const late: Pod[] = [];
  let nextMs: number | undefined;
  for (const pod of pods) {
    const { name = "", deletionTimestamp } = pod.metadata;
    const since = Object.hasOwn(known, name) ? known[name] : undefined;
    if (since === undefined || deletionTimestamp !== undefined) continue;
    const restMs = Date.parse(since) + DELETION_TIMEOUT_MS - nowMs;
    if (restMs < 0) late.push(pod);
    else {
      kept[name] = since;
      nextMs = Math.min(restMs, nextMs ?? restMs);
    }
  }
  return { pods: kept, late, nextMs };
}

/** Ready Pods that are neither being deleted nor evicted. */
function countHealthy(pods: readonly Pod[], disrupted: Readonly<Record<string, string>>, nowMs: number): number {
  const isLeaving = ({ metadata: { name = "", deletionTimestamp } }: Pod) => {
    const since = Object.hasOwn(disrupted, name) ? disrupted[name] : undefined;
    return deletionTimestamp !== undefined || (since !== undefined && Date.parse(since) + DELETION_TIMEOUT_MS > nowMs);
  };
  return pods.filter((pod) => !isLeaving(pod) && isReady(pod)).length;
}

/** The next status of a budget. Undefined if it is as it should be. */
export function nextStatus(
  { metadata: { generation = 0 }, status = {} }: DisruptionBudget,
  pods: readonly Pod[],
  { expected, desired }: Expectation,
  disrupted: Readonly<Record<string, string>>,
  nowMs: number,
): BudgetStatus | undefined {
  const currentHealthy = countHealthy(pods, disrupted, nowMs);
  const disruptionsAllowed = expected <= 0 ? 0 : Math.max(0, currentHealthy - desired);
  const condition =
    disruptionsAllowed > 0
      ? { status: "True", reason: "SufficientPods" }
      : { status: "False", reason: "InsufficientPods" };
  const before = status.conditions?.find(({ type }) => type === ALLOWED);
  const counts = { currentHealthy, desiredHealthy: desired, expectedPods: expected, disruptionsAllowed };
  const isSame =
    Object.entries(counts).every(([name, count]) => (status[name] ?? 0) === count) &&
    isDeepStrictEqual(status.disruptedPods ?? {}, disrupted) &&
    (status.observedGeneration ?? 0) === generation &&
    before?.status === condition.status &&
    before?.reason === condition.reason;
  if (isSame) return undefined;
  return {
    ...counts,
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: { ...disrupted } }),
    observedGeneration: generation,
    conditions: withCondition(status.conditions, { ...condition, message: "" }, generation, nowMs),
  };
}

/** The status after an error: no evictions are allowed. Upstream: failSafe */
export function failedStatus({ status = {} }: DisruptionBudget, message: string, nowMs: number): BudgetStatus {
  const condition = { status: "False", reason: "SyncFailed", message };
  const conditions = withCondition(status.conditions, condition, status.observedGeneration ?? 0, nowMs);
  return { ...status, disruptionsAllowed: 0, conditions };
}

/** Upstream: SetStatusCondition */
function withCondition(
  conditions: readonly BudgetCondition[] = [],
  condition: Pick<BudgetCondition, "status" | "reason" | "message">,
  observedGeneration: number,
  nowMs: number,
): BudgetCondition[] {
  const before = conditions.find(({ type }) => type === ALLOWED);
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined;
  const next = {
    type: ALLOWED,
    ...condition,
    ...(observedGeneration > 0 && { observedGeneration }),
    lastTransitionTime: isSame ? before.lastTransitionTime : printTime(nowMs),
  } as BudgetCondition;
  return before ? conditions.map((one) => (one === before ? next : one)) : [...conditions, next];
}
