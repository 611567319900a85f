import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { Condition } from "../rules/conditions.ts";

/** Whose turn it is to move a pod away. */
export interface TargetResponder extends JsonObject {
  name?: string;
  priority?: number | null;
  state?: string;
}

/** What a responder reports. */
export interface ResponderStatus extends JsonObject {
  name?: string;
  startTime?: string;
  heartbeatTime?: string;
  expectedCompletionTime?: string;
  completionTime?: string;
  message?: string;
}

/** How far an eviction has got. */
export interface EvictionStatus extends JsonObject {
  conditions?: Condition[];
  targetResponders?: TargetResponder[];
  responders?: ResponderStatus[];
}

/** The status of an eviction. */
export const statusOf = (eviction: KubeObject): EvictionStatus => (eviction.status as EvictionStatus | undefined) ?? {};
