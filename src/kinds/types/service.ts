import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";

/** Service of core/v1. */
export interface Service extends KubeObject {
  spec?: ServiceSpec;
}

/** ServicePort of core/v1. */
export interface ServicePort extends JsonObject {
  name?: string;
  protocol?: string;
  appProtocol?: string;
  port?: number;
  targetPort?: number | string;
  nodePort?: number;
}

/** ServiceSpec of core/v1. */
export interface ServiceSpec extends JsonObject {
  type?: string;
  ports?: ServicePort[];
  selector?: Texts;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  trafficDistribution?: string;
  healthCheckNodePort?: number;
  publishNotReadyAddresses?: boolean;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  loadBalancerIP?: string;
  loadBalancerSourceRanges?: string[];
  loadBalancerClass?: string;
  allocateLoadBalancerNodePorts?: boolean;
}

/** LoadBalancerIngress of core/v1. */
export interface LoadBalancerIngress extends JsonObject {
  ip?: string;
  ipMode?: string;
  hostname?: string;
  ports?: JsonObject[];
}

/** The clusterIP of a headless Service: upstream's `ClusterIPNone`. */
export const NO_ADDRESS = "None";

/** The spec of a Service; a detached empty object if it has none. */
export function specOf(service: KubeObject): ServiceSpec {
  return isObject(service.spec) ? service.spec : {};
}

/** `status.loadBalancer.ingress` of a Service. */
export function ingressOf(service: KubeObject): LoadBalancerIngress[] {
  const status = isObject(service.status) ? service.status : {};
  const balancer = isObject(status.loadBalancer) ? status.loadBalancer : {};
  return Array.isArray(balancer.ingress) ? (balancer.ingress as LoadBalancerIngress[]) : [];
}

/** Whether the Service has a ClusterIP, or is headless: any type but ExternalName. */
export function hasClusterAddress({ type }: ServiceSpec): boolean {
  return type !== "ExternalName";
}

/** Whether the Service is of a type that can have nodePorts. */
export function mayHaveNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** Whether nodePorts are allocated automatically (allocateLoadBalancerNodePorts). */
export function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

/** Whether the Service has a healthCheckNodePort. Upstream: `NeedsHealthCheck`. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** Whether the Service has a type or externalIPs that are reachable from outside. Upstream: `ExternallyAccessible`. */
export function isExternallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}

/** Whether the Service is headless: its clusterIP is None. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === NO_ADDRESS;
}

/** Whether two lists have equal strings in the same order. */
export function sameTexts(left: readonly string[] = [], right: readonly string[] = []): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/** The nodePorts of a Service. */
export function nodePortsOf({ ports = [] }: ServiceSpec): number[] {
  return ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
}

/** The clusterIPs of a Service, without None. */
export function addressesOf(spec: ServiceSpec): readonly string[] {
  const { clusterIPs = [] } = spec;
  return hasClusterAddress(spec) && clusterIPs[0] !== NO_ADDRESS ? clusterIPs : [];
}
