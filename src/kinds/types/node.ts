import type { JsonObject, KubeObject } from "../../base/api/object.ts";

/** Node of core/v1. */
export interface Node extends KubeObject {
  spec?: NodeSpec;
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
