import type { EndpointAddress, EndpointSubset } from "../../../../kinds/types/endpoints.ts";

/** The most addresses of an Endpoints object. */
const MAX_ADDRESSES = 1000;

/** The number of addresses of all subsets. */
export function isOverCapacity(subsets: readonly EndpointSubset[]): boolean {
  return total(subsets, "addresses") + total(subsets, "notReadyAddresses") > MAX_ADDRESSES;
}

type Member = "addresses" | "notReadyAddresses";

function total(subsets: readonly EndpointSubset[], member: Member): number {
  return subsets.reduce((sum, subset) => sum + (subset[member]?.length ?? 0), 0);
}

/**
 * The subsets with at most 1000 addresses. Addresses that are ready take precedence; subsets lose addresses in
 * proportion to their size. Upstream: truncateEndpoints
 */
export function truncateSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  if (!isOverCapacity(subsets)) return [...subsets];
  const ready = total(subsets, "addresses");
  const member: Member = ready > MAX_ADDRESSES ? "addresses" : "notReadyAddresses";
  const max = member === "addresses" ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  const all = total(subsets, member);
  let rest = max;
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports }) => {
    const own = member === "addresses" ? addresses : notReadyAddresses;
    const kept = own.slice(0, Math.min(rest, Math.ceil((own.length / all) * max)));
    rest -= kept.length;
    return {
      ...listed("addresses", member === "addresses" ? kept : addresses),
      ...listed("notReadyAddresses", member === "addresses" ? [] : kept),
      ...(ports && { ports }),
    };
  });
}

function listed(member: Member, addresses: EndpointAddress[]): EndpointSubset {
  return addresses.length > 0 ? { [member]: addresses } : {};
}
