import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";

/** Node of core/v1. */
export interface Node extends KubeObject {
  spec?: NodeSpec;
  status?: NodeStatus;
}

/** NodeStatus of core/v1. */
export interface NodeStatus extends JsonObject {
  allocatable?: Texts;
  conditions?: { type?: string; status?: string }[];
}

/** NodeSpec of core/v1. */
export interface NodeSpec extends JsonObject {
  taints?: Taint[];
  unschedulable?: boolean;
}

/** Taint of core/v1. */
export interface Taint extends JsonObject {
  key?: string;
  value?: string;
  effect?: string;
}
