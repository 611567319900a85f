import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { parseAddress } from "../../../../base/net/ip-address.ts";
import { type AddressRange, addressNumber, parseRange } from "../../../../base/net/ip-range.ts";

/** A ServiceCIDR. */
export interface ServiceCidr extends KubeObject {
  spec?: { cidrs?: string[] };
  status?: { conditions?: ServiceCidrCondition[] };
}

/** A condition of a ServiceCIDR. */
export interface ServiceCidrCondition extends JsonObject {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** The address ranges of a ServiceCIDR. */
export function rangesOf({ spec }: ServiceCidr): AddressRange[] {
  return (spec?.cidrs ?? []).flatMap((cidr) => parseRange(cidr) ?? []);
}

/** Whether two ranges have addresses in common. */
export function overlap(one: AddressRange, other: AddressRange): boolean {
  return one.size === other.size && one.lowest <= other.highest && other.lowest <= one.highest;
}

/** Whether a range contains another one, or is the same. */
export function contains(outer: AddressRange, inner: AddressRange): boolean {
  return overlap(outer, inner) && outer.bits <= inner.bits;
}

/** Compat: like `PrefixContainsIP`, without the network address and the IPv4 broadcast address. */
export function allocates(range: AddressRange, address: string): boolean {
  const bytes = parseAddress(address);
  if (bytes?.length !== range.size) return false;
  const number = addressNumber(bytes);
  if (number === range.lowest || (range.size === 4 && number === range.highest)) return false;
  return range.lowest <= number && number <= range.highest;
}
