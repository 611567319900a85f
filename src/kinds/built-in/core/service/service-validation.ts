import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { validateLabels } from "../../../../resources/write/metadata-validation.ts";
import {
  isExternallyAccessible,
  isHeadless,
  needsHealthCheck,
  type ServiceSpec,
  specOf,
} from "../../../types/service.ts";
import { portNumber, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { pushAddressErrors } from "../../shared-rules/ip.ts";
import { pushEndpointAddressErrors, pushRangeErrors } from "../../shared-rules/ip-ranges.ts";
import { addressChangeErrors, addressFieldErrors, familyChangeErrors } from "./service-address-validation.ts";
import { portErrors } from "./service-port-validation.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES = ["ClientIP", "None"];
const POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const MAX_AFFINITY_SECONDS = 86_400;
const ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
/** The deprecated name of the annotation service.kubernetes.io/topology-mode. */
export const OLD_TOPOLOGY = "service.kubernetes.io/topology-aware-hints";
/** The annotation of topology aware routing. */
export const TOPOLOGY = "service.kubernetes.io/topology-mode";

/** Validates a Service. Upstream: `ValidateService` and `ValidateServiceUpdate`. */
export function validateService(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const spec = specOf(next);
  const old = previous && specOf(previous);
  return [
    ...(old ? changeErrors(spec, old) : []),
    ...topologyErrors(next),
    ...typeErrors(spec),
    ...portErrors(spec),
    ...validateLabels(spec.selector ?? {}, "spec.selector"),
    ...affinityErrors(spec),
    ...addressFieldErrors(spec, old),
    ...externalAddressErrors(spec, old),
    ...(TYPES.includes(spec.type ?? "") ? [] : [notSupportedField("spec.type", spec.type, TYPES)]),
    ...nodePortErrors(spec),
    ...sourceRangeErrors(next, previous),
    ...balancerErrors(spec),
    ...trafficErrors(spec),
  ];
}

function changeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const errors = [...addressChangeErrors(spec, old), ...familyChangeErrors(spec, old)];
  const areBalancers = spec.type === "LoadBalancer" && old.type === "LoadBalancer";
  if (areBalancers && spec.loadBalancerClass !== old.loadBalancerClass) {
    errors.push(invalidField("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set"));
  }
  addAll(errors, classErrors(spec));
  const areChecked = needsHealthCheck(spec) && needsHealthCheck(old);
  if (areChecked && spec.healthCheckNodePort !== old.healthCheckNodePort) {
    errors.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
  return errors;
}

function topologyErrors({ metadata: { annotations = {} } }: KubeObject): FieldError[] {
  const mode = annotations[TOPOLOGY];
  const hints = annotations[OLD_TOPOLOGY];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const text = `must match annotations[${OLD_TOPOLOGY}] when both are specified`;
  return [invalidField(`metadata.annotations[${TOPOLOGY}]`, mode, text)];
}

function typeErrors(spec: ServiceSpec): FieldError[] {
  const { type, ports = [], clusterIPs = [], ipFamilies = [], externalName = "" } = spec;
  if (type !== "ExternalName") {
    const errors = ports.length === 0 && !isHeadless(spec) ? [requiredField("spec.ports")] : [];
    if (isHeadless(spec) && (type === "LoadBalancer" || type === "NodePort")) {
      const text = `may not be set to 'None' for ${type} services`;
      errors.push(invalidField("spec.clusterIPs[0]", clusterIPs[0], text));
    }
    return errors;
  }
  const errors: FieldError[] = [];
  const text = "may not be set for ExternalName services";
  if (clusterIPs.length > 0) errors.push(forbiddenField("spec.clusterIPs", text));
  if (ipFamilies.length > 0) errors.push(forbiddenField("spec.ipFamilies", text));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbiddenField("spec.ipFamilyPolicy", text));
  const name = externalName.replace(/\.$/, "");
  if (name === "") errors.push(requiredField("spec.externalName"));
  else pushInvalid(errors, "spec.externalName", name, subdomainName(name));
  return errors;
}

function affinityErrors({ sessionAffinity = "", sessionAffinityConfig }: ServiceSpec): FieldError[] {
  if (!AFFINITIES.includes(sessionAffinity)) {
    return [notSupportedField("spec.sessionAffinity", sessionAffinity, AFFINITIES)];
  }
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 1;
  if (sessionAffinity === "None" || (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS)) return [];
  const text = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [invalidField("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, text)];
}

function externalAddressErrors({ externalIPs = [] }: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const accepted = new Set(old?.externalIPs);
  return externalIPs.flatMap((address, index) => {
    const errors: FieldError[] = [];
    const path = `spec.externalIPs[${index}]`;
    pushAddressErrors(errors, path, address, accepted);
    if (errors.length === 0) pushEndpointAddressErrors(errors, path, address);
    return errors;
  });
}

function nodePortErrors({ type, ports = [] }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (type === "ClusterIP") {
    for (const [index, { nodePort }] of ports.entries()) {
      const text = "may not be used when `type` is 'ClusterIP'";
      if (nodePort) errors.push(forbiddenField(`spec.ports[${index}].nodePort`, text));
    }
  }
  const seen = new Set<string>();
  for (const [index, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue;
    const identity = `${protocol}/${nodePort}`;
    if (seen.has(identity)) errors.push(duplicateField(`spec.ports[${index}].nodePort`, nodePort));
    seen.add(identity);
  }
  const known = new Set<string>();
  for (const [index, { port = 0, protocol = "" }] of ports.entries()) {
    const identity = `${protocol}/${port}`;
    // Compat: "Duplicate value" shows an internal ServicePort with only `Protocol` and `Port` set.
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    if (known.has(identity)) errors.push(duplicateField(`spec.ports[${index}]`, shown));
    known.add(identity);
  }
  return errors;
}

function sourceRangeErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = specOf(next);
  const errors: FieldError[] = [];
  const isBalancer = type === "LoadBalancer";
  if (ranges.length > 0) {
    // Compat: the path is `spec.LoadBalancerSourceRanges`, with a capital.
    const path = "spec.LoadBalancerSourceRanges";
    if (!isBalancer) errors.push(forbiddenField(path, ONLY_BALANCERS));
    const stored = previous && specOf(previous).loadBalancerSourceRanges;
    const old = new Set(stored?.map((range) => range.trim()));
    for (const [index, range] of ranges.entries()) pushRangeErrors(errors, `${path}[${index}]`, range.trim(), old);
    return errors;
  }
  const annotation = next.metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return errors;
  const path = `metadata.annotations[${SOURCE_RANGES}]`;
  if (!isBalancer) errors.push(forbiddenField(path, ONLY_BALANCERS));
  if (annotation.trim() === "" || previous?.metadata.annotations?.[SOURCE_RANGES] === annotation) return errors;
  for (const range of annotation.split(",")) pushRangeErrors(errors, path, range.trim());
  return errors;
}

function balancerErrors(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== "LoadBalancer") {
    errors.push(forbiddenField("spec.allocateLoadBalancerNodePorts", ONLY_BALANCERS));
  }
  return [...errors, ...classErrors(spec)];
}

function classErrors({ type, loadBalancerClass }: ServiceSpec): FieldError[] {
  if (loadBalancerClass === undefined) return [];
  const path = "spec.loadBalancerClass";
  if (type !== "LoadBalancer") return [forbiddenField(path, ONLY_BALANCERS)];
  return qualifiedName(loadBalancerClass).map((text) => invalidField(path, loadBalancerClass, text));
}

function trafficErrors(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: external = "", internalTrafficPolicy: internal, healthCheckNodePort = 0 } = spec;
  const errors: FieldError[] = [];
  if (!isExternallyAccessible(spec)) {
    const text = "may only be set for externally-accessible services";
    if (external !== "") errors.push(invalidField("spec.externalTrafficPolicy", external, text));
  } else if (!POLICIES.includes(external)) {
    errors.push(notSupportedField("spec.externalTrafficPolicy", external, POLICIES));
  }
  if (needsHealthCheck(spec)) {
    pushInvalid(errors, "spec.healthCheckNodePort", healthCheckNodePort, portNumber(healthCheckNodePort));
  } else if (healthCheckNodePort !== 0) {
    const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalidField("spec.healthCheckNodePort", healthCheckNodePort, text));
  }
  if (internal !== undefined && !POLICIES.includes(internal)) {
    errors.push(notSupportedField("spec.internalTrafficPolicy", internal, POLICIES));
  }
  const { trafficDistribution } = spec;
  if (trafficDistribution !== undefined && !DISTRIBUTIONS.includes(trafficDistribution)) {
    errors.push(notSupportedField("spec.trafficDistribution", trafficDistribution, DISTRIBUTIONS));
  }
  return errors;
}
