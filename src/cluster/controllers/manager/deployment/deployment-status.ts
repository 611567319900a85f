import type { Deployment, DeploymentStatus, ReplicaSet, WorkloadCondition } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { maxUnavailable, sizeOf, sum } from "./limits.ts";

/** The ReplicaSets of a Deployment. */
export interface Sets {
  /** With the template of the Deployment. */
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

type Condition = Pick<WorkloadCondition, "type" | "status" | "reason" | "message">;

const NO_LIMIT = 2 ** 31 - 1;
const COMPLETE = "NewReplicaSetAvailable";
const TIMED_OUT = "ProgressDeadlineExceeded";
const PAUSED = "DeploymentPaused";

/** The condition of a type. */
export function conditionOf(status: DeploymentStatus | undefined, type: string): WorkloadCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Sets a condition, unless one with the same status and reason is there. */
export function withCondition(status: DeploymentStatus, condition: Condition, nowMs: number): DeploymentStatus {
  const before = conditionOf(status, condition.type);
  if (before?.status === condition.status && before?.reason === condition.reason) return status;
  const now = printTime(nowMs);
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
  return replaceCondition(status, { ...condition, lastUpdateTime: now, lastTransitionTime });
}

function replaceCondition(status: DeploymentStatus, condition: WorkloadCondition): DeploymentStatus {
  return { ...status, conditions: [...(without(status, condition.type).conditions ?? []), condition] };
}

function without(status: DeploymentStatus, type: string): DeploymentStatus {
  return { ...status, conditions: (status.conditions ?? []).filter((condition) => condition.type !== type) };
}

/** Whether a rollout without progress fails at some time. */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_LIMIT;
}

/** How many old ReplicaSets may stay. Undefined without a limit. */
export function historyLimit({ spec }: Deployment): number | undefined {
  return spec.revisionHistoryLimit === NO_LIMIT ? undefined : spec.revisionHistoryLimit;
}

/** The status after a pause or its end. Undefined if the condition is right. */
export function pausedStatus(deployment: Deployment, nowMs: number): DeploymentStatus | undefined {
  const { spec, status = {} } = deployment;
  const reason = conditionOf(status, "Progressing")?.reason;
  if (!hasDeadline(deployment) || reason === TIMED_OUT) return undefined;
  const isPaused = spec.paused ?? false;
  if (isPaused === (reason === PAUSED)) return undefined;
  const condition = isPaused
    ? progressing("Unknown", PAUSED, "Deployment is paused")
    : progressing("Unknown", "DeploymentResumed", "Deployment is resumed");
  return withCondition(status, condition, nowMs);
}

/** The condition Progressing. */
export function progressing(status: string, reason: string, message: string): Condition {
  return { type: "Progressing", status, reason, message };
}

/** Counts and the condition Available. */
export function countedStatus(deployment: Deployment, { newest, old }: Sets, nowMs: number): DeploymentStatus {
  const all = newest ? [...old, newest] : old;
  const { metadata, spec, status: before = {} } = deployment;
  const available = sum(all, ({ status }) => status?.availableReplicas);
  const terminating = terminatingReplicas(all);
  const counts = {
    observedGeneration: metadata.generation ?? 0,
    replicas: sum(all, ({ status }) => status?.replicas),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - available),
  };
  const status: DeploymentStatus = {
    ...counts,
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(before.collisionCount !== undefined && { collisionCount: before.collisionCount }),
    conditions: [...(before.conditions ?? [])],
  };
  const isEnough = available >= (spec.replicas ?? 1) - maxUnavailable(deployment);
  const condition = isEnough
    ? { status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  return withCondition(status, { type: "Available", ...condition }, nowMs);
}

/** Undefined while a ReplicaSet has been synced without this count. */
function terminatingReplicas(all: readonly ReplicaSet[]): number | undefined {
  const isUnknown = ({ status }: ReplicaSet) =>
    status?.terminatingReplicas === undefined && (status?.observedGeneration ?? 0) !== 0;
  return all.some(isUnknown) ? undefined : sum(all, ({ status }) => status?.terminatingReplicas);
}

/** Whether all Pods are of the newest template and available. */
export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus | undefined): boolean {
  const { replicas = 1 } = spec;
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas];
  return (
    counts.every((count) => (count ?? 0) === replicas) &&
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** The status during a rollout, with the condition Progressing and failures of ReplicaSets. */
export function rolloutStatus(deployment: Deployment, sets: Sets, nowMs: number): DeploymentStatus {
  const counted = countedStatus(deployment, sets, nowMs);
  const current = conditionOf(deployment.status, "Progressing");
  const isFinished = counted.replicas === counted.updatedReplicas && current?.reason === COMPLETE;
  let status = counted;
  if (!hasDeadline(deployment)) status = without(counted, "Progressing");
  else if (!isFinished) status = withProgress(deployment, counted, sets, nowMs);
  const failure = replicaFailure(sets);
  return failure ? withFailure(status, failure) : without(status, "ReplicaFailure");
}

function withProgress(
  deployment: Deployment,
  counted: DeploymentStatus,
  { newest }: Sets,
  nowMs: number,
): DeploymentStatus {
  const { name } = deployment.metadata;
  const subject = newest ? `ReplicaSet "${newest.metadata.name}"` : `Deployment "${name}"`;
  if (isComplete(deployment, counted)) {
    const condition = progressing("True", COMPLETE, `${subject} has successfully progressed.`);
    return withCondition(counted, condition, nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, counted)) {
    // Unlike other conditions, this one gets a new time although its reason is the same.
    const current = conditionOf(counted, "Progressing");
    const now = printTime(nowMs);
    const lastTransitionTime = current?.status === "True" ? (current.lastTransitionTime ?? now) : now;
    const condition = progressing("True", "ReplicaSetUpdated", `${subject} is progressing.`);
    return replaceCondition(counted, { ...condition, lastUpdateTime: now, lastTransitionTime });
  }
  if (!isTimedOut(deployment, counted, nowMs)) return counted;
  return withCondition(counted, progressing("False", TIMED_OUT, `${subject} has timed out progressing.`), nowMs);
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  const grew = (member: "updatedReplicas" | "readyReplicas" | "availableReplicas") =>
    (after[member] ?? 0) > (before[member] ?? 0);
  return (
    grew("updatedReplicas") || oldPods(after) < oldPods(before) || grew("readyReplicas") || grew("availableReplicas")
  );
}

function isTimedOut({ spec }: Deployment, status: DeploymentStatus, nowMs: number): boolean {
  const condition = conditionOf(status, "Progressing");
  if (condition === undefined || condition.reason === COMPLETE) return false;
  if (condition.reason === TIMED_OUT) return true;
  return Date.parse(condition.lastUpdateTime ?? "") + (spec.progressDeadlineSeconds ?? 0) * 1000 < nowMs;
}

/** The failure of the newest ReplicaSet, or of any other one. */
function replicaFailure({ newest, old }: Sets): WorkloadCondition | undefined {
  for (const set of newest ? [newest, ...old] : old) {
    const found = set.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
    if (found) return found;
  }
  return undefined;
}

function withFailure(status: DeploymentStatus, failure: WorkloadCondition): DeploymentStatus {
  const { lastTransitionTime } = failure;
  const before = conditionOf(status, failure.type);
  if (before?.status === failure.status && before?.reason === failure.reason) return status;
  const transition = before?.status === failure.status ? before.lastTransitionTime : lastTransitionTime;
  return replaceCondition(status, {
    ...failure,
    ...(lastTransitionTime !== undefined && { lastUpdateTime: lastTransitionTime }),
    ...(transition !== undefined && { lastTransitionTime: transition }),
  });
}

/** Milliseconds until it is known whether a rollout without progress has timed out. Undefined if that need not be checked. */
export function nextDeadlineMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const current = conditionOf(deployment.status, "Progressing");
  if (!hasDeadline(deployment) || current === undefined) return undefined;
  if (isComplete(deployment, status) || current.reason === TIMED_OUT) return undefined;
  const due = Date.parse(current.lastUpdateTime ?? "") + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000;
  // Times have whole seconds, so the deadline may be up to a second later.
  return Math.max(0, due - nowMs) + 1000;
}
