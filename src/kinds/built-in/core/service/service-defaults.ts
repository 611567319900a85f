import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import {
  hasClusterAddress,
  ingressOf,
  isExternallyAccessible,
  mayHaveNodePorts,
  needsHealthCheck,
  nodePortsOf,
  type ServiceSpec,
  sameTexts,
  specOf,
} from "../../../types/service.ts";

const AFFINITY_SECONDS = 10_800;
const TYPES_WITH_INTERNAL_POLICY: readonly string[] = ["ClusterIP", "NodePort", "LoadBalancer"];

/** Sets defaults of a Service. Changes `service`. Upstream: `SetDefaults_Service`. */
export function setServiceDefaults(service: KubeObject): void {
  const spec = specOf(service);
  service.spec = spec;
  setAffinity(spec);
  if (!spec.type) spec.type = "ClusterIP";
  for (const port of spec.ports ?? []) {
    if (!port.protocol) port.protocol = "TCP";
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "") {
      port.targetPort = port.port ?? 0;
    }
  }
  if (isExternallyAccessible(spec) && !spec.externalTrafficPolicy) spec.externalTrafficPolicy = "Cluster";
  if (TYPES_WITH_INTERNAL_POLICY.includes(spec.type)) spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type !== "LoadBalancer") return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const point of ingressOf(service)) if (point.ip) point.ipMode ??= "VIP";
}

function setAffinity(spec: ServiceSpec): void {
  if (!spec.sessionAffinity) spec.sessionAffinity = "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== "ClientIP" || spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}

/**
 * Drops fields that the type of a Service does not use (`dropTypeDependentFields`), if the server may have set them.
 * Fields that the client has changed as well are left for validation to reject.
 */
export function dropUnusedFields(next: KubeObject, previous: KubeObject): void {
  const spec = specOf(next);
  const old = specOf(previous);
  if (hasClusterAddress(old) && !hasClusterAddress(spec)) dropAddresses(spec, old);
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(spec) && hasOnlyOldPorts(spec, old)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  const sameHealthPort = (spec.healthCheckNodePort ?? 0) === (old.healthCheckNodePort ?? 0);
  if (needsHealthCheck(old) && !needsHealthCheck(spec) && sameHealthPort) delete spec.healthCheckNodePort;
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts;
    }
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) {
    if (spec.externalTrafficPolicy === old.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  }
  if (spec.type !== "LoadBalancer" && isObject(next.status)) next.status.loadBalancer = {};
}

function dropAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  const isSame = (spec.clusterIP ?? "") === (old.clusterIP ?? "") && sameTexts(spec.clusterIPs, old.clusterIPs);
  if (isSame) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameTexts(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
  if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
}

function hasOnlyOldPorts(spec: ServiceSpec, old: ServiceSpec): boolean {
  const known = new Set(nodePortsOf(old));
  return nodePortsOf(spec).every((port) => known.has(port));
}

const INTERNAL_POLICIES: readonly string[] = ["Cluster", "Local"];

/**
 * Compat: `internalTrafficPolicy` of an ExternalName Service is never shown (`defaultOnReadInternalTrafficPolicy`).
 * Validation rejects unsupported values.
 */
export function hideInternalPolicy(service: KubeObject): void {
  const spec = specOf(service);
  if (spec.type === "ExternalName" && INTERNAL_POLICIES.includes(spec.internalTrafficPolicy ?? "")) {
    delete spec.internalTrafficPolicy;
  }
}
