import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Condition } from "../shared-rules/conditions.ts";

/** TargetResponder of lifecycle.k8s.io: a responder that evicts a pod when it is active. */
export interface TargetResponder extends JsonObject {
  name?: string;
  priority?: number | null;
  state?: string;
}

/** ResponderStatus of lifecycle.k8s.io: the status reported by a responder. */
export interface ResponderStatus extends JsonObject {
  name?: string;
  startTime?: string;
  heartbeatTime?: string;
  expectedCompletionTime?: string;
  completionTime?: string;
  message?: string;
}

/** EvictionStatus of lifecycle.k8s.io. */
export interface EvictionStatus extends JsonObject {
  conditions?: Condition[];
  targetResponders?: TargetResponder[];
  responders?: ResponderStatus[];
}

/** The status of an Eviction. */
export const statusOf = (eviction: KubeObject): EvictionStatus => (eviction.status as EvictionStatus | undefined) ?? {};
