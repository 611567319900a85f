import type { EndpointAddress, EndpointSubset, SubsetPort } from "../../../../kinds/types/endpoints.ts";
import { fnv128a } from "../../shared/hashes/fnv.ts";
import type { GoLayout } from "../../shared/hashes/go-layout.ts";
import { spewPrinter } from "../../shared/hashes/spew.ts";
import { compare } from "../../shared/order.ts";

const LAYOUT: GoLayout = {
  structs: {
    "v1.EndpointSubset": [
      "Addresses addresses []v1.EndpointAddress",
      "NotReadyAddresses notReadyAddresses []v1.EndpointAddress",
      "Ports ports []v1.EndpointPort",
    ],
    "v1.EndpointAddress": [
      ...["IP ip string", "Hostname hostname string", "NodeName nodeName *string"],
      "TargetRef targetRef *v1.ObjectReference",
    ],
    "v1.ObjectReference": [
      ...["Kind kind string", "Namespace namespace string", "Name name string", "UID uid types.UID"],
      ...["APIVersion apiVersion string", "ResourceVersion resourceVersion string", "FieldPath fieldPath string"],
    ],
    "v1.EndpointPort": [
      ...["Name name string", "Port port int32", "Protocol protocol v1.Protocol", "AppProtocol appProtocol *string"],
    ],
  },
  types: { "types.UID": "string", "v1.Protocol": "string" },
};
const printSubset = spewPrinter(LAYOUT, "v1.EndpointSubset");
const printAddress = spewPrinter(LAYOUT, "v1.EndpointAddress");
const printPort = spewPrinter(LAYOUT, "v1.EndpointPort");
const hashOf = (text: string) => fnv128a(Buffer.from(text));

/** Whether subsets in the same order have the same content. ResourceVersions of Pods are ignored. */
export function areSameSubsets(some: readonly EndpointSubset[], others: readonly EndpointSubset[]): boolean {
  const text = (subset: EndpointSubset) =>
    printSubset({
      ...subset,
      addresses: withoutVersions(subset.addresses),
      notReadyAddresses: withoutVersions(subset.notReadyAddresses),
    });
  return some.length === others.length && some.map(text).join() === others.map(text).join();
}

function withoutVersions(addresses: readonly EndpointAddress[] = []): EndpointAddress[] {
  return addresses.map((address) => {
    const { resourceVersion: _, ...targetRef } = address.targetRef ?? {};
    return address.targetRef === undefined ? address : { ...address, targetRef };
  });
}

/** An address and whether it is ready. */
interface Candidate {
  readonly address: EndpointAddress;
  isReady: boolean;
}

interface PortAddresses {
  /** Undefined for addresses without ports. */
  readonly port: SubsetPort | undefined;
  readonly candidates: Map<string, Candidate>;
}

/**
 * The canonical form of subsets: every address is in one subset per combination of ports. Upstream: RepackSubsets
 * Compat: ports with an `appProtocol` are equal only if they are the same object, because Go compares pointers.
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const groups = Map.groupBy(addressesByPort(subsets), ({ candidates }) => textOf(candidates));
  const packed = [...groups.values()].map((group) => {
    const all = [...(group[0]?.candidates.values() ?? [])].sort(byAddress);
    const addresses = all.filter(({ isReady }) => isReady).map(({ address }) => address);
    const notReadyAddresses = all.filter(({ isReady }) => !isReady).map(({ address }) => address);
    const ports = sortedByHash(
      group.flatMap(({ port }) => (port === undefined ? [] : [port])),
      (port) => `(v1.EndpointPort)${printPort(port)}`,
    );
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(ports.length > 0 && { ports }),
    };
  });
  return sortedByHash(packed, (subset) => `(v1.EndpointSubset)${printSubset(subset)}`);
}

function addressesByPort(subsets: readonly EndpointSubset[]): Iterable<PortAddresses> {
  const byPort = new Map<unknown, PortAddresses>();
  const known = new Map<string, EndpointAddress>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length > 0 ? ports : [undefined]) {
      const key = port?.appProtocol === undefined ? JSON.stringify(port && printPort(port)) : port;
      const entry = byPort.get(key) ?? { port, candidates: new Map<string, Candidate>() };
      byPort.set(key, entry);
      for (const address of addresses) add(entry, known, address, true);
      for (const address of notReadyAddresses) add(entry, known, address, false);
    }
  }
  return byPort.values();
}

/** The first form of an address counts everywhere. An address that is not ready once is not ready. */
function add(
  { candidates }: PortAddresses,
  known: Map<string, EndpointAddress>,
  given: EndpointAddress,
  isReady: boolean,
) {
  const key = JSON.stringify([given.ip, given.targetRef?.uid ?? ""]);
  const address = known.get(key) ?? given;
  known.set(key, address);
  const candidate = candidates.get(key) ?? { address, isReady };
  candidates.set(key, candidate);
  candidate.isReady &&= isReady;
}

function textOf(candidates: ReadonlyMap<string, Candidate>): string {
  const sorted = [...candidates.values()].sort(byAddress);
  return JSON.stringify(sorted.map(({ address, isReady }) => [printAddress(address), isReady]));
}

/** Upstream: LessEndpointAddress */
function byAddress({ address: one }: Candidate, { address: other }: Candidate): number {
  const order = compare(one.ip, other.ip);
  if (order !== 0) return order;
  if (one.targetRef === undefined || other.targetRef === undefined) {
    return Number(one.targetRef !== undefined) - Number(other.targetRef !== undefined);
  }
  return compare(one.targetRef.uid, other.targetRef.uid);
}

function sortedByHash<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  const hashed = items.map((item) => ({ item, hash: hashOf(textOf(item)) }));
  return hashed.sort((one, other) => compare(one.hash, other.hash)).map(({ item }) => item);
}
