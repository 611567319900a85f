import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";

/** Node of core/v1. */
export interface Node extends KubeObject {
  spec?: NodeSpec;
  status?: NodeStatus;
}

/** NodeSpec of core/v1. */
export interface NodeSpec extends JsonObject {
  taints?: Taint[];
  unschedulable?: boolean;
  podCIDR?: string;
  podCIDRs?: string[];
}

/** NodeStatus of core/v1. */
export interface NodeStatus extends JsonObject {
  capacity?: Texts;
  allocatable?: Texts;
  addresses?: NodeAddress[];
  conditions?: NodeCondition[];
  images?: ContainerImage[];
  declaredFeatures?: string[];
}

/** ContainerImage of core/v1. */
export interface ContainerImage extends JsonObject {
  names?: string[];
  sizeBytes?: number;
}

/** NodeAddress of core/v1. */
export interface NodeAddress extends JsonObject {
  type: string;
  address: string;
}

/** NodeCondition of core/v1. */
export interface NodeCondition extends JsonObject {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
}

/** Taint of core/v1. */
export interface Taint extends JsonObject {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}
