import type { JsonObject, KubeObject, ObjectMeta } from "../../../base/api/object.ts";
import type { WorkloadCondition } from "../../types/workloads.ts";
import type { WorkloadSpec } from "../apps/workload.ts";

/** Job of batch/v1. */
export interface Job extends KubeObject {
  spec: JobSpec;
  status?: JobStatus;
}

/** JobSpec of batch/v1. */
export interface JobSpec extends WorkloadSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  completionMode?: string;
  manualSelector?: boolean;
  managedBy?: string;
  suspend?: boolean;
  podReplacementPolicy?: string;
  podFailurePolicy?: PodFailurePolicy;
  successPolicy?: SuccessPolicy;
  scheduling?: JsonObject;
}

/** PodFailurePolicy of batch/v1. */
export interface PodFailurePolicy extends JsonObject {
  rules?: PodFailurePolicyRule[] | null;
}

/** PodFailurePolicyRule of batch/v1. */
export interface PodFailurePolicyRule extends JsonObject {
  action?: string;
  onExitCodes?: OnExitCodes;
  onPodConditions?: OnPodCondition[];
}

/** PodFailurePolicyOnExitCodesRequirement of batch/v1. */
export interface OnExitCodes extends JsonObject {
  containerName?: string;
  operator?: string;
  values?: number[] | null;
}

/** PodFailurePolicyOnPodConditionsPattern of batch/v1. */
export interface OnPodCondition extends JsonObject {
  type?: string;
  status?: string;
}

/** SuccessPolicy of batch/v1. */
export interface SuccessPolicy extends JsonObject {
  rules?: SuccessPolicyRule[] | null;
}

/** SuccessPolicyRule of batch/v1. */
export interface SuccessPolicyRule extends JsonObject {
  succeededIndexes?: string;
  succeededCount?: number;
}

/** JobStatus of batch/v1. */
export interface JobStatus extends JsonObject {
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  startTime?: string;
  completionTime?: string;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] } & JsonObject;
  conditions?: JobCondition[];
}

/** JobCondition of batch/v1. */
export interface JobCondition extends WorkloadCondition {
  lastProbeTime?: string;
}

/** CronJob of batch/v1. */
export interface CronJob extends KubeObject {
  spec: CronJobSpec;
  status?: CronJobStatus;
}

/** CronJobSpec of batch/v1. */
export interface CronJobSpec extends JsonObject {
  schedule?: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: string;
  suspend?: boolean;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate?: { metadata?: ObjectMeta; spec?: JobSpec } & JsonObject;
}

/** CronJobStatus of batch/v1. */
export interface CronJobStatus extends JsonObject {
  active?: ActiveJob[];
  lastScheduleTime?: string;
  lastSuccessfulTime?: string;
}

/** ObjectReference of core/v1 to a Job. */
export interface ActiveJob extends JsonObject {
  kind?: string;
  namespace?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
  apiVersion?: string;
  resourceVersion?: string | undefined;
}
