import { isDeepStrictEqual } from "node:util";
import { isIPv4, parseLooseAddress } from "../../../../base/net/ip-address.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import type { EndpointAddress, Endpoints, SubsetPort } from "../../../../kinds/types/endpoints.ts";
import { canonicalAddress } from "../../../../kinds/types/ip-address.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { controllerReference } from "../../shared/owners.ts";
import { repackSubsets } from "../endpoints/repack.ts";
import { MANAGED_BY, SERVICE_NAME, type SliceChanges } from "../endpointslice/managed-slices.ts";
import { portsKey, sortPorts } from "../endpointslice/port-order.ts";
import { endpointKey, isSameEndpoint, namePrefix } from "../endpointslice/slice-plan.ts";
import { TRIGGER_TIME } from "../endpointslice/trigger-times.ts";

/** The value of the label managed-by. */
export const MANAGER = "endpointslicemirroring-controller.k8s.io";
/** Upstream: --mirroring-max-endpoints-per-subset */
export const MAX_ADDRESSES = 1000;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const FAMILIES = ["IPv4", "IPv6"];

/** The endpoints of a subset in one family. */
interface Group {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Map<string, Endpoint>;
}

/** What to write, and how many addresses cannot be mirrored. */
export interface MirrorPlan {
  readonly changes: SliceChanges;
  readonly invalid: number;
  readonly skipped: number;
}

/** What has to change so that slices have the addresses of Endpoints. */
export function planMirror(
  resource: ServedResource,
  source: Endpoints,
  existing: readonly EndpointSlice[],
): MirrorPlan {
  const { groups, invalid, skipped } = groupAddresses(source);
  const changes: SliceChanges = { create: [], update: [], delete: [] };
  const known = Map.groupBy(existing, ({ addressType, ports }) => groupKey(addressType, ports));
  for (const [key, group] of groups) {
    mirrorGroup(resource, source, known.get(key) ?? [], group, changes);
    known.delete(key);
  }
  for (const slices of known.values()) addAll(changes.delete, slices);
  return { changes: recycle(changes, source), invalid, skipped };
}

const groupKey = (addressType: string, ports: EndpointSlice["ports"]) => `${addressType} ${portsKey(ports)}`;

function groupAddresses({ subsets = [] }: Endpoints): { groups: Map<string, Group>; invalid: number; skipped: number } {
  const groups = new Map<string, Group>();
  let [invalid, skipped] = [0, 0];
  for (const { addresses = [], notReadyAddresses = [], ports: given = [] } of repackSubsets(subsets)) {
    const ports = sortPorts(given.map(portOf));
    for (const addressType of FAMILIES) {
      const key = groupKey(addressType, ports);
      if (!groups.has(key)) groups.set(key, { addressType, ports, endpoints: new Map() });
    }
    let added = 0;
    const add = (list: readonly EndpointAddress[], ready: boolean) => {
      for (const address of list) {
        if (added >= MAX_ADDRESSES) return;
        const family = familyOf(address);
        const endpoint = endpointOf(address, ready);
        if (family === undefined) invalid++;
        else groups.get(groupKey(family, ports))?.endpoints.set(endpointKey(endpoint), endpoint);
        if (family !== undefined) added++;
      }
    };
    add(addresses, true);
    add(notReadyAddresses, false);
    skipped += addresses.length + notReadyAddresses.length - added;
  }
  return { groups, invalid, skipped };
}

function familyOf({ ip }: EndpointAddress): string | undefined {
  const bytes = parseLooseAddress(ip);
  return bytes && (isIPv4(bytes) ? "IPv4" : "IPv6");
}

function endpointOf({ ip, hostname = "", nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [canonicalAddress(ip)],
    conditions: { ready },
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
    ...(hostname !== "" && { hostname }),
  };
}

function portOf({ name = "", port = 0, protocol = "TCP", appProtocol }: SubsetPort): EndpointPort {
  return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

/** One slice per subset and family. Upstream: reconcileByPortMapping */
function mirrorGroup(
  resource: ServedResource,
  source: Endpoints,
  existing: readonly EndpointSlice[],
  { addressType, ports, endpoints }: Group,
  changes: SliceChanges,
): void {
  if (endpoints.size === 0) {
    addAll(changes.delete, existing);
    return;
  }
  const [first, ...others] = existing;
  addAll(changes.delete, others);
  if (first && isMirror(first, source, endpoints)) return;
  const { name = "", namespace = "" } = source.metadata;
  const annotations = mirroredAnnotations(source);
  const slice: EndpointSlice = {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: {
      ...(first ? { name: first.metadata.name ?? "" } : { generateName: namePrefix(name) }),
      namespace,
      labels: { ...source.metadata.labels, [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerReference(resource, source)],
    },
    addressType,
    ports: [...ports],
    endpoints: [...endpoints.values()].slice(0, MAX_ADDRESSES),
  };
  if (first) changes.update.push(slice);
  else changes.create.push(slice);
}

function mirroredAnnotations({ metadata }: Endpoints): Record<string, string> {
  const { [TRIGGER_TIME]: _trigger, [LAST_APPLIED]: _applied, ...rest } = metadata.annotations ?? {};
  return rest;
}

function isMirror(slice: EndpointSlice, source: Endpoints, endpoints: ReadonlyMap<string, Endpoint>): boolean {
  const { name, uid, labels = {} } = source.metadata;
  const { [SERVICE_NAME]: _service, [MANAGED_BY]: _manager, ...ownLabels } = slice.metadata.labels ?? {};
  const current = slice.endpoints ?? [];
  const isOther = (slice.metadata.ownerReferences ?? []).some(
    (owner) => owner.kind === "Endpoints" && owner.name === name && owner.uid !== uid,
  );
  const isSame = (endpoint: Endpoint) => {
    const wanted = endpoints.get(endpointKey(endpoint));
    return wanted !== undefined && isSameEndpoint(wanted, endpoint);
  };
  return (
    !isOther &&
    current.length === endpoints.size &&
    current.every(isSame) &&
    isDeepStrictEqual(labels, ownLabels) &&
    isDeepStrictEqual(mirroredAnnotations(source), slice.metadata.annotations ?? {})
  );
}

/** Reuses slices that would be deleted for new ones. Updates need no resourceVersion. */
function recycle({ create, update, delete: surplus }: SliceChanges, { metadata }: Endpoints): SliceChanges {
  const deleted = [...surplus];
  const created: EndpointSlice[] = [];
  const updated = [...update];
  for (const slice of create) {
    const at = deleted.findIndex(({ addressType }) => addressType === slice.addressType);
    const [reused] = at < 0 ? [] : deleted.splice(at, 1);
    if (reused) updated.push({ ...slice, metadata: { ...slice.metadata, name: reused.metadata.name ?? "" } });
    else created.push(slice);
  }
  return { create: metadata.deletionTimestamp === undefined ? created : [], update: updated, delete: deleted };
}
