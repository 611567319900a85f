import { type FieldError, invalidField } from "../../../../base/api/field-error.ts";
import { hasClusterAddress, NO_ADDRESS, type ServiceSpec, sameTexts } from "../../../types/service.ts";
import { addressFieldErrors, familyOf } from "./service-address-validation.ts";

const POLICY = "spec.ipFamilyPolicy";

/**
 * Sets the IP families of a Service, as far as the cluster supports them. The first of `families` is the default.
 * Returns errors. Changes `spec`.
 */
export function settleFamilies(
  spec: ServiceSpec,
  previous: ServiceSpec | undefined,
  families: readonly string[],
): FieldError[] {
  if (!hasClusterAddress(spec) || keepsBothFamilies(spec, previous)) return [];
  const isBare = spec.clusterIP === NO_ADDRESS && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= previous?.ipFamilyPolicy ?? (isBare ? "RequireDualStack" : "SingleStack");
  const malformed = addressFieldErrors(spec, previous);
  if (malformed.length > 0) return malformed;

  const errors = [...dropSecondary(spec, previous), ...policyErrors(spec), ...inferFamilies(spec, families)];
  if (errors.length > 0) return errors;
  const isDual = spec.ipFamilyPolicy !== "SingleStack";
  if (!isBare) {
    const missing = missingFamilies(spec, families);
    if (missing.length > 0) return missing;
  }
  const wanted = spec.ipFamilies && spec.ipFamilies.length > 0 ? spec.ipFamilies : families.slice(0, 1);
  spec.ipFamilies = isDual && wanted.length === 1 && (isBare || families.length > 1) ? withOther(wanted) : [...wanted];
  return [];
}

/**
 * Compat: upstream's `isMatchingPreferDualStackClusterIPFields`: an update that does not change the fields of a
 * PreferDualStack Service keeps its ipFamilies, regardless of ServiceCIDRs.
 */
export function keepsBothFamilies(spec: ServiceSpec, previous: ServiceSpec | undefined): boolean {
  return (
    previous !== undefined &&
    spec.ipFamilyPolicy === "PreferDualStack" &&
    (previous.ipFamilyPolicy ?? spec.ipFamilyPolicy) === "PreferDualStack" &&
    spec.type === previous.type &&
    ["ClusterIP", "NodePort", "LoadBalancer"].includes(spec.type ?? "") &&
    sameTexts(spec.clusterIPs, previous.clusterIPs) &&
    sameTexts(spec.ipFamilies, previous.ipFamilies)
  );
}

/** An update to SingleStack drops the second ClusterIP; other updates must not. */
function dropSecondary(spec: ServiceSpec, previous: ServiceSpec | undefined): FieldError[] {
  if (!previous) return [];
  const { clusterIPs = [], ipFamilies = [] } = spec;
  if (spec.ipFamilyPolicy === "SingleStack") {
    if (clusterIPs.length > 1 && sameTexts(clusterIPs, previous.clusterIPs)) spec.clusterIPs = clusterIPs.slice(0, 1);
    if (ipFamilies.length > 1 && sameTexts(ipFamilies, previous.ipFamilies)) spec.ipFamilies = ipFamilies.slice(0, 1);
    return [];
  }
  const isReduced = (next: readonly string[], old: readonly string[] = []) =>
    next.length > 0 && next.length < old.length;
  const errors: FieldError[] = [];
  const text = "must be 'SingleStack' to release the secondary";
  if (isReduced(clusterIPs, previous.clusterIPs)) {
    errors.push(invalidField(POLICY, spec.ipFamilyPolicy, `${text} cluster IP`));
  }
  if (isReduced(ipFamilies, previous.ipFamilies)) {
    errors.push(invalidField(POLICY, spec.ipFamilyPolicy, `${text} IP family`));
  }
  return errors;
}

function policyErrors({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== "SingleStack") return [];
  const text = (what: string) =>
    invalidField(POLICY, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what}`);
  return [
    ...(clusterIPs.length === 2 ? [text("cluster IPs are specified")] : []),
    ...(ipFamilies.length === 2 ? [text("IP families are specified")] : []),
  ];
}

/** Infers ipFamilies from the given clusterIPs. */
function inferFamilies(spec: ServiceSpec, families: readonly string[]): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIPs[0] === NO_ADDRESS) return [];
  const known = [...ipFamilies];
  const errors: FieldError[] = [];
  for (const [index, address] of clusterIPs.entries()) {
    if (index < known.length) continue;
    const family = familyOf(address) ?? "unknown";
    if (families.includes(family)) known.push(family);
    else
      errors.push(invalidField(`spec.clusterIPs[${index}]`, clusterIPs, `${family} is not configured on this cluster`));
  }
  if (known.length > 0) spec.ipFamilies = known;
  return errors;
}

function missingFamilies({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec, families: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === "RequireDualStack" && families.length < 2) {
    errors.push(invalidField(POLICY, ipFamilyPolicy, "this cluster is not configured for dual-stack services"));
  }
  for (const [index, family] of ipFamilies.entries()) {
    if (families.includes(family)) continue;
    errors.push(invalidField(`spec.ipFamilies[${index}]`, family, "not configured on this cluster"));
  }
  return errors;
}

function withOther(families: readonly string[]): string[] {
  return [...families, families[0] === "IPv4" ? "IPv6" : "IPv4"];
}
