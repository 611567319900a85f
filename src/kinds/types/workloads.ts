import type { JsonObject, KubeObject, ObjectMeta } from "../../base/api/object.ts";
import type { LabelSelector } from "./meta.ts";
import type { PodSpec } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** Pod of core/v1. */
export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

/** PodTemplateSpec of core/v1. */
export interface PodTemplateSpec extends JsonObject {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

/** A condition of a workload's status. */
export interface WorkloadCondition extends JsonObject {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/** ReplicaSet of apps/v1. ReplicationController of core/v1 differs only in its selector. */
export interface ReplicaSet extends KubeObject {
  spec: ReplicaSetSpec;
  status?: ReplicaSetStatus;
}

/** ReplicaSetSpec of apps/v1. */
export interface ReplicaSetSpec extends JsonObject {
  replicas?: number;
  minReadySeconds?: number;
  selector?: LabelSelector;
  template?: PodTemplateSpec;
}

/** ReplicaSetStatus of apps/v1. */
export interface ReplicaSetStatus extends JsonObject {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: WorkloadCondition[];
}

/** Deployment of apps/v1. */
export interface Deployment extends KubeObject {
  spec: DeploymentSpec;
  status?: DeploymentStatus;
}

/** DeploymentSpec of apps/v1. */
export interface DeploymentSpec extends JsonObject {
  replicas?: number;
  selector?: LabelSelector;
  template?: PodTemplateSpec;
  strategy?: DeploymentStrategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  paused?: boolean;
  progressDeadlineSeconds?: number;
}

/** DeploymentStrategy of apps/v1. */
export interface DeploymentStrategy extends JsonObject {
  type?: string;
  rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
}

/** DeploymentStatus of apps/v1. */
export interface DeploymentStatus extends JsonObject {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  conditions?: WorkloadCondition[];
  collisionCount?: number;
}

/** StatefulSet of apps/v1. */
export interface StatefulSet extends KubeObject {
  spec: StatefulSetSpec;
  status?: StatefulSetStatus;
}

/** StatefulSetSpec of apps/v1. */
export interface StatefulSetSpec extends JsonObject {
  replicas?: number;
  selector?: LabelSelector;
  template?: PodTemplateSpec;
  volumeClaimTemplates?: KubeObject[];
  serviceName?: string;
  podManagementPolicy?: string;
  updateStrategy?: StatefulSetUpdateStrategy;
  revisionHistoryLimit?: number;
  minReadySeconds?: number;
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
  ordinals?: { start?: number };
}

/** StatefulSetUpdateStrategy of apps/v1. */
export interface StatefulSetUpdateStrategy extends JsonObject {
  type?: string;
  rollingUpdate?: { partition?: number; maxUnavailable?: number | string };
}

/** StatefulSetStatus of apps/v1. */
export interface StatefulSetStatus extends JsonObject {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  currentReplicas?: number;
  updatedReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: number;
  conditions?: WorkloadCondition[];
  availableReplicas?: number;
}

/** ControllerRevision of apps/v1. */
export interface ControllerRevision extends KubeObject {
  data?: JsonObject;
  revision?: number;
}

/** DaemonSet of apps/v1. */
export interface DaemonSet extends KubeObject {
  spec: DaemonSetSpec;
  status?: DaemonSetStatus;
}

/** DaemonSetSpec of apps/v1. */
export interface DaemonSetSpec extends JsonObject {
  selector?: LabelSelector;
  template?: PodTemplateSpec;
  updateStrategy?: DaemonSetUpdateStrategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
}

/** DaemonSetUpdateStrategy of apps/v1. */
export interface DaemonSetUpdateStrategy extends JsonObject {
  type?: string;
  rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
}

/** DaemonSetStatus of apps/v1. */
export interface DaemonSetStatus extends JsonObject {
  currentNumberScheduled?: number;
  numberMisscheduled?: number;
  desiredNumberScheduled?: number;
  numberReady?: number;
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  collisionCount?: number;
}
