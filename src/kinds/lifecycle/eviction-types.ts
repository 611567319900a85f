import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { Condition } from "../rules/conditions.ts";

/** TargetResponder of lifecycle.k8s.io: whose turn it is to move a pod away. */
export interface TargetResponder extends JsonObject {
  name?: string;
  priority?: number | null;
  state?: string;
}

/** ResponderStatus of lifecycle.k8s.io: what a responder reports. */
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
