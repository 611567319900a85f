import type { JsonObject, KubeObject } from "../../base/api/object.ts";

/** EndpointSlice of discovery.k8s.io/v1. */
export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints?: Endpoint[] | null;
  ports?: EndpointPort[] | null;
}

/** Endpoint of discovery.k8s.io/v1. */
export interface Endpoint extends JsonObject {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  targetRef?: ObjectReference;
  nodeName?: string;
  zone?: string;
  hints?: EndpointHints;
}

/** EndpointHints of discovery.k8s.io/v1. */
export interface EndpointHints extends JsonObject {
  forZones?: { name: string }[];
  forNodes?: { name: string }[];
}

/** EndpointPort of discovery.k8s.io/v1. */
export interface EndpointPort extends JsonObject {
  name?: string;
  port?: number;
  protocol?: string;
  appProtocol?: string;
}

/** ObjectReference of core/v1. */
export interface ObjectReference extends JsonObject {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
  fieldPath?: string;
}
