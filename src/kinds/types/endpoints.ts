import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { ObjectReference } from "./endpoint-slice.ts";

/** Endpoints of core/v1. */
export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

/** EndpointSubset of core/v1. */
export interface EndpointSubset extends JsonObject {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: SubsetPort[];
}

/** EndpointAddress of core/v1. */
export interface EndpointAddress extends JsonObject {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
}

/** EndpointPort of core/v1. */
export interface SubsetPort extends JsonObject {
  name?: string;
  port?: number;
  protocol?: string;
  appProtocol?: string;
}
