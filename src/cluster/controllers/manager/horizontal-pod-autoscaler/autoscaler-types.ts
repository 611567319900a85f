import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import type { LabelSelector } from "../../../../kinds/types/meta.ts";
import type { WorkloadCondition } from "../../../../kinds/types/workloads.ts";

/** HorizontalPodAutoscaler of autoscaling/v2. */
export interface Autoscaler extends KubeObject {
  spec: AutoscalerSpec;
  status?: AutoscalerStatus;
}

/** HorizontalPodAutoscalerSpec of autoscaling/v2. */
export interface AutoscalerSpec extends JsonObject {
  scaleTargetRef: ObjectReference;
  minReplicas?: number;
  maxReplicas: number;
  metrics?: MetricSpec[];
  behavior?: { scaleUp?: ScalingRules; scaleDown?: ScalingRules };
}

/** CrossVersionObjectReference of autoscaling/v2. */
export interface ObjectReference extends JsonObject {
  kind: string;
  name: string;
  apiVersion?: string;
}

/** HPAScalingRules of autoscaling/v2. */
export interface ScalingRules extends JsonObject {
  stabilizationWindowSeconds?: number;
  selectPolicy?: string;
  policies?: { type: string; value: number; periodSeconds: number }[];
  tolerance?: string;
}

/** MetricSpec of autoscaling/v2. The member of the type is set. */
export interface MetricSpec extends JsonObject {
  type: string;
  object?: { describedObject: ObjectReference; target: MetricTarget; metric: MetricIdentifier };
  pods?: { metric: MetricIdentifier; target: MetricTarget };
  resource?: { name: string; target: MetricTarget };
  containerResource?: { name: string; container: string; target: MetricTarget };
  external?: { metric: MetricIdentifier; target: MetricTarget };
}

/** MetricIdentifier of autoscaling/v2. */
export interface MetricIdentifier extends JsonObject {
  name: string;
  selector?: LabelSelector;
}

/** MetricTarget of autoscaling/v2. */
export interface MetricTarget extends JsonObject {
  type: string;
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

/** HorizontalPodAutoscalerStatus of autoscaling/v2. */
export interface AutoscalerStatus extends JsonObject {
  observedGeneration?: number;
  lastScaleTime?: string;
  currentReplicas?: number;
  desiredReplicas?: number;
  currentMetrics?: JsonObject[];
  conditions?: WorkloadCondition[];
}
