import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { isIPv4, parseLooseAddress } from "../../../../base/net/ip-address.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { hasClusterAddress, isHeadless, NO_ADDRESS, type ServiceSpec } from "../../../types/service.ts";
import { hasBothFamilies, pushAddressErrors } from "../../shared-rules/ip.ts";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const ADDRESSES = "spec.clusterIPs";
const FIXED = "may not change once set";

/** The IP family of an address; undefined if it is not an IP address. */
export function familyOf(address: string): string | undefined {
  const bytes = parseLooseAddress(address);
  return bytes && (isIPv4(bytes) ? "IPv4" : "IPv6");
}

/** Validates clusterIPs, ipFamilies and ipFamilyPolicy. Upstream: `ValidateServiceClusterIPsRelatedFields`. */
export function addressFieldErrors(spec: ServiceSpec, previous: ServiceSpec | undefined): FieldError[] {
  if (!hasClusterAddress(spec)) return [];
  const errors: FieldError[] = [];
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (clusterIP === "" && clusterIPs.length > 0) {
    errors.push(invalidField(ADDRESSES, clusterIPs, "must be empty when `clusterIP` is not specified"));
  } else if (clusterIP !== "" && clusterIPs.length === 0) {
    errors.push(requiredField(ADDRESSES));
  } else if (clusterIP !== "" && clusterIPs[0] !== clusterIP) {
    errors.push(invalidField(ADDRESSES, clusterIPs, "first value must match `clusterIP`"));
  }
  const seen = new Set<string>();
  for (const [index, family] of ipFamilies.entries()) {
    const path = `spec.ipFamilies[${index}]`;
    if (!FAMILIES.includes(family)) errors.push(notSupportedField(path, family, FAMILIES));
    if (seen.has(family)) errors.push(duplicateField(path, family));
    seen.add(family);
  }
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy)) {
    errors.push(notSupportedField("spec.ipFamilyPolicy", ipFamilyPolicy, POLICIES));
  }
  const before = errors.length;
  pushMalformedAddresses(errors, clusterIPs, new Set(previous?.clusterIPs));
  const areMalformed = errors.length > before;
  if (clusterIPs.length > 2) errors.push(invalidField(ADDRESSES, clusterIPs, "may only hold up to 2 values"));
  if (areMalformed) return errors;
  if (clusterIPs.length > 1 && !hasBothFamilies(clusterIPs)) {
    errors.push(invalidField(ADDRESSES, clusterIPs, "may specify no more than one IP for each IP family"));
  }
  return isHeadless(spec) ? errors : errors.concat(familyMismatches(clusterIPs, ipFamilies));
}

function pushMalformedAddresses(
  errors: FieldError[],
  addresses: readonly string[],
  accepted: ReadonlySet<string>,
): void {
  for (const [index, address] of addresses.entries()) {
    if (index > 0 || address !== NO_ADDRESS) {
      pushAddressErrors(errors, `${ADDRESSES}[${index}]`, address, accepted);
    } else if (addresses.length > 1) {
      errors.push(invalidField(ADDRESSES, addresses, "'None' must be the first and only value"));
    }
  }
}

function familyMismatches(addresses: readonly string[], families: readonly string[]): FieldError[] {
  return addresses.flatMap((address, index) => {
    const family = families[index];
    if (family === undefined || !FAMILIES.includes(family) || family === familyOf(address)) return [];
    const text = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    return [invalidField(`${ADDRESSES}[${index}]`, address, text)];
  });
}

/** Validates an update of clusterIPs. Upstream: `validateUpgradeDowngradeClusterIPs`. */
export function addressChangeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (!hasClusterAddress(spec) || !hasClusterAddress(old)) return [];
  if (isHeadless(spec) && isHeadless(old)) return [];
  const { clusterIPs = [] } = spec;
  const { clusterIPs: oldIPs = [] } = old;
  const errors: FieldError[] = [];
  const checked = oldIPs.length === clusterIPs.length ? oldIPs : oldIPs.slice(0, 1);
  if (clusterIPs.length === 0 && oldIPs.length > 0) {
    errors.push(invalidField(`${ADDRESSES}[0]`, spec.clusterIPs, "primary clusterIP can not be unset"));
  } else {
    for (const [index, address] of checked.entries()) {
      if (address !== clusterIPs[index]) errors.push(invalidField(`${ADDRESSES}[${index}]`, clusterIPs, FIXED));
    }
  }
  if (oldIPs.length > 1 && clusterIPs.length === 1) addAll(errors, releaseErrors(spec, "clusterIP"));
  return errors;
}

/** Validates an update of ipFamilies. Upstream: `validateUpgradeDowngradeIPFamilies`. */
export function familyChangeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (!hasClusterAddress(spec) || !hasClusterAddress(old) || isHeadless(spec) || isHeadless(old)) return [];
  const { ipFamilies = [], clusterIPs = [] } = spec;
  const { ipFamilies: oldFamilies = [] } = old;
  const path = "spec.ipFamilies[0]";
  if (oldFamilies.length === ipFamilies.length) {
    const changed = oldFamilies.filter((family, index) => family !== ipFamilies[index]);
    return changed.map(() => invalidField(path, ipFamilies, FIXED));
  }
  const errors: FieldError[] = [];
  const isReduced = oldFamilies.length > ipFamilies.length;
  if (isReduced && clusterIPs.length === 0) {
    errors.push(invalidField(path, spec.ipFamilies, "primary ipFamily can not be unset"));
  }
  if (oldFamilies.length > 0 && ipFamilies.length > 0 && ipFamilies[0] !== oldFamilies[0]) {
    // Compat: the error on `spec.ipFamilies` shows `spec.clusterIPs` as its value.
    errors.push(invalidField(path, spec.clusterIPs, FIXED));
  }
  if (isReduced && ipFamilies.length === 1) addAll(errors, releaseErrors(spec, "ipFamily"));
  return errors;
}

function releaseErrors({ ipFamilyPolicy }: ServiceSpec, what: string): FieldError[] {
  if (ipFamilyPolicy === "SingleStack") return [];
  const text = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalidField("spec.ipFamilyPolicy", ipFamilyPolicy, text)];
}
