import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { parseLooseAddress } from "../../../../base/net/ip-address.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import { hasClusterAddress, ingressOf, NO_ADDRESS, specOf } from "../../../types/service.ts";
import { pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { addressWarnings, pushAddressErrors } from "../../shared-rules/ip.ts";
import { rangeWarnings } from "../../shared-rules/ip-ranges.ts";
import { dropUnusedFields, hideInternalPolicy, setServiceDefaults } from "./service-defaults.ts";
import { OLD_TOPOLOGY, TOPOLOGY, validateService } from "./service-validation.ts";

const IP_MODES = ["Proxy", "VIP"];
const INGRESS = "status.loadBalancer.ingress";

function statusErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const points = ingressOf(next);
  if (specOf(next).type !== "LoadBalancer" && points.length > 0) {
    return [forbiddenField(INGRESS, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const accepted = new Set(previous && ingressOf(previous).map(({ ip }) => ip ?? ""));
  return points.flatMap(({ ip = "", ipMode, hostname = "" }, index) => {
    const path = `${INGRESS}[${index}]`;
    const errors: FieldError[] = [];
    if (ip !== "") pushAddressErrors(errors, `${path}.ip`, ip, accepted);
    if (ipMode === undefined) {
      if (ip !== "") errors.push(requiredField(`${path}.ipMode`, "must be specified when `ip` is set"));
    } else if (ip === "") {
      errors.push(forbiddenField(`${path}.ipMode`, "may not be specified when `ip` is not set"));
    } else if (!IP_MODES.includes(ipMode)) {
      errors.push(notSupportedField(`${path}.ipMode`, ipMode, IP_MODES));
    }
    if (hostname === "") return errors;
    pushInvalid(errors, `${path}.hostname`, hostname, subdomainName(hostname));
    if (parseLooseAddress(hostname)) {
      errors.push(invalidField(`${path}.hostname`, hostname, "must be a DNS name, not an IP address"));
    }
    return errors;
  });
}

function warnings(service: KubeObject): string[] {
  const spec = specOf(service);
  const { clusterIP = "", clusterIPs = [], externalIPs = [], loadBalancerIP = "", externalName = "" } = spec;
  const found: string[] = [];
  if (service.metadata.annotations?.[OLD_TOPOLOGY] !== undefined) {
    found.push(`annotation ${OLD_TOPOLOGY} is deprecated, please use ${TOPOLOGY} instead`);
  }
  const isHeadless = spec.type === "ClusterIP" && clusterIP === NO_ADDRESS;
  if (clusterIP !== "" && clusterIP !== NO_ADDRESS) {
    addAll(
      found,
      clusterIPs.flatMap((address, index) => addressWarnings(`spec.clusterIPs[${index}]`, address)),
    );
  }
  if (isHeadless) {
    if (loadBalancerIP !== "") found.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIPs.length > 0) found.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") found.push("spec.SessionAffinity is ignored for headless services");
  }
  addAll(
    found,
    externalIPs.flatMap((address, index) => addressWarnings(`spec.externalIPs[${index}]`, address)),
  );
  if (externalIPs.length > 0 && !isHeadless && hasClusterAddress(spec)) {
    found.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (loadBalancerIP !== "") addAll(found, addressWarnings("spec.loadBalancerIP", loadBalancerIP));
  const ranges = spec.loadBalancerSourceRanges ?? [];
  addAll(
    found,
    ranges.flatMap((range, index) => rangeWarnings(`spec.loadBalancerSourceRanges[${index}]`, range)),
  );
  if (!hasClusterAddress(spec) && externalIPs.length > 0) {
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (hasClusterAddress(spec) && externalName !== "") {
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === "PreferClose") {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return found;
}

/** Service: ClusterIPs and ports of a set of pods. */
export const serviceHooks: ResourceHooks = {
  setDefaults: setServiceDefaults,
  prepare(next, previous, { subresource }) {
    if (previous && subresource === "") dropUnusedFields(next, previous);
    hideInternalPolicy(next);
  },
  validate(next, previous, { subresource }) {
    return subresource === "status" ? statusErrors(next, previous) : validateService(next, previous);
  },
  warn(next, _previous, { subresource }) {
    if (subresource !== "status") return warnings(next);
    return ingressOf(next).flatMap(({ ip }, index) => (ip ? addressWarnings(`${INGRESS}[${index}]`, ip) : []));
  },
};
