import { isDeepStrictEqual } from "node:util";
import { dns1123Subdomain } from "../../../../base/api/names.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import { NO_ADDRESS, type Service } from "../../../../kinds/types/service.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { controllerReference } from "../../shared/owners.ts";
import { HEADLESS, MANAGED_BY, SERVICE_NAME, type SliceChanges } from "./managed-slices.ts";
import { portsKey, sortPorts } from "./port-order.ts";

/** The value of the label managed-by. */
export const MANAGER = "endpointslice-controller.k8s.io";
/** Upstream: --max-endpoints-per-slice */
const MAX_ENDPOINTS = 100;
const RESERVED = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);

/** Pods with the same port numbers. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  /** By `endpointKey`. */
  readonly endpoints: Map<string, Endpoint>;
}

/** A Service, its kind, and the address type of the planned slices. */
export interface SliceOwner {
  readonly resource: ServedResource;
  readonly service: Service;
  readonly addressType: string;
}

/** Two endpoints with the same key are states of the same one. Upstream: hashEndpoint */
export function endpointKey({ addresses, hostname = "", targetRef }: Endpoint): string {
  const { namespace = "", name = "" } = targetRef ?? {};
  return JSON.stringify([[...addresses].sort(), hostname, namespace, name]);
}

/** Whether two endpoints with the same key need no update. Upstream: EndpointsEqualBeyondHash */
export function isSameEndpoint(one: Endpoint, other: Endpoint): boolean {
  return isDeepStrictEqual(comparedPart(one), comparedPart(other));
}

function comparedPart({ nodeName, zone, conditions: { ready, serving, terminating } = {}, targetRef }: Endpoint) {
  const { kind, namespace, name, uid, apiVersion, fieldPath } = targetRef ?? {};
  return [nodeName, zone, ready, serving, terminating, kind, namespace, name, uid, apiVersion, fieldPath];
}

/** Prefix of generated names. */
export function namePrefix(name: string): string {
  return dns1123Subdomain(`${name}-a`).length === 0 ? `${name}-` : name;
}

/** Whether a Service has an address of its own. */
export function hasAddress({ spec }: Service): boolean {
  return (spec?.clusterIP ?? "") !== "" && spec?.clusterIP !== NO_ADDRESS;
}

/** Whether the slice belongs to this Service, and not to an earlier one of the same name. */
function isOwnedBy({ metadata }: EndpointSlice, { metadata: { uid } }: Service): boolean {
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.uid === uid && owner.kind === "Service" && owner.apiVersion === "v1",
  );
}

/** What has to change so that the slices of an address type contain these endpoints. */
export function planSlices(
  owner: SliceOwner,
  existing: readonly EndpointSlice[],
  groups: readonly PortGroup[],
): SliceChanges {
  const { service } = owner;
  const changes: SliceChanges = { create: [], update: [], delete: [] };
  const owned = existing.filter((slice) => isOwnedBy(slice, service));
  addAll(
    changes.delete,
    existing.filter((slice) => !isOwnedBy(slice, service)),
  );
  const byPorts = Map.groupBy(owned, ({ ports }) => portsKey(ports));
  for (const group of groups) {
    const key = portsKey(group.ports);
    fillSlices(owner, byPorts.get(key) ?? [], group, changes);
    byPorts.delete(key);
  }
  for (const slices of byPorts.values()) addAll(changes.delete, slices);
  if (existing.length === changes.delete.length && changes.create.length === 0) keepPlaceholder(owner, changes);
  return changes;
}

/** A Service without endpoints has one empty slice. */
function keepPlaceholder(owner: SliceOwner, changes: SliceChanges): void {
  const placeholder = newSlice(owner, []);
  const [only] = changes.delete;
  if (changes.delete.length === 1 && only && isPlaceholder(only, placeholder)) changes.delete.length = 0;
  else changes.create.push(placeholder);
}

function isPlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  return (
    (slice.endpoints ?? []).length === 0 &&
    (slice.ports ?? []).length === 0 &&
    slice.addressType === placeholder.addressType &&
    isDeepStrictEqual(slice.metadata.labels, placeholder.metadata.labels)
  );
}

/** Distributes the endpoints of a group to slices with the same ports. Upstream: reconcileByPortMapping */
function fillSlices(
  owner: SliceOwner,
  existing: readonly EndpointSlice[],
  { ports, endpoints }: PortGroup,
  changes: SliceChanges,
): void {
  const missing = new Map(endpoints);
  const changed: EndpointSlice[] = [];
  const unchanged: EndpointSlice[] = [];
  for (const slice of existing) {
    const current = slice.endpoints ?? [];
    const labels = labelsFor(owner.service);
    const kept = current.flatMap((endpoint) => {
      const wanted = missing.get(endpointKey(endpoint));
      missing.delete(endpointKey(endpoint));
      return wanted ? [{ wanted, isSame: isSameEndpoint(wanted, endpoint) }] : [];
    });
    const isSame = kept.length === current.length && kept.every((one) => one.isSame);
    if (!isSame && kept.length === 0) changes.delete.push(slice);
    else if (!isSame) changed.push({ ...copyOf(slice, labels), endpoints: kept.map(({ wanted }) => wanted) });
    else if (hasOtherLabels(slice, labels)) changed.push({ ...copyOf(slice, labels), endpoints: [...current] });
    else unchanged.push(slice);
  }
  const take = (slice: EndpointSlice): void => {
    for (const [key, endpoint] of missing) {
      if ((slice.endpoints?.length ?? 0) >= MAX_ENDPOINTS) return;
      slice.endpoints?.push(endpoint);
      missing.delete(key);
    }
  };
  // The fullest slices first.
  for (const slice of changed.toSorted((one, other) => lengthOf(other) - lengthOf(one))) take(slice);
  while (missing.size > 0) {
    const found = missing.size < MAX_ENDPOINTS ? sliceToFill(unchanged, missing.size) : undefined;
    if (found) unchanged.splice(unchanged.indexOf(found), 1);
    const slice = found
      ? { ...found, metadata: { ...found.metadata }, endpoints: [...(found.endpoints ?? [])] }
      : newSlice(owner, ports);
    take(slice);
    if (found) changed.push(slice);
    else changes.create.push(slice);
  }
  addAll(changes.update, changed);
}

const lengthOf = ({ endpoints }: EndpointSlice) => endpoints?.length ?? 0;

function copyOf(slice: EndpointSlice, labels: Record<string, string>): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

/** The slice that is closest to full after so many more endpoints. */
function sliceToFill(slices: readonly EndpointSlice[], count: number): EndpointSlice | undefined {
  let best: EndpointSlice | undefined;
  for (const slice of slices) {
    const rest = MAX_ENDPOINTS - count - lengthOf(slice);
    if (rest >= 0 && rest < MAX_ENDPOINTS - count - (best ? lengthOf(best) : -count)) best = slice;
  }
  return best;
}

function newSlice({ resource, service, addressType }: SliceOwner, ports: readonly EndpointPort[]): EndpointSlice {
  const { name = "", namespace = "" } = service.metadata;
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: labelsFor(service),
      ownerReferences: [controllerReference(resource, service)],
    },
    addressType,
    ports: sortPorts(ports),
    endpoints: [],
  };
}

const ownLabels = (labels: Readonly<Record<string, string>> | undefined) =>
  Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => !RESERVED.has(name)));

/** The labels of the Service, and those that describe the slice. */
function labelsFor(service: Service): Record<string, string> {
  return {
    ...ownLabels(service.metadata.labels),
    ...(!hasAddress(service) && { [HEADLESS]: "" }),
    [SERVICE_NAME]: service.metadata.name ?? "",
    [MANAGED_BY]: MANAGER,
  };
}

/** Compat: `setEndpointSliceLabels` ignores changes of reserved labels. */
function hasOtherLabels({ metadata }: EndpointSlice, labels: Record<string, string>): boolean {
  return !isDeepStrictEqual(ownLabels(metadata.labels), ownLabels(labels));
}

/** Reuses slices that would be deleted for new ones. Updates need no resourceVersion. */
export function recycle({ create, update, delete: surplus }: SliceChanges, { service }: SliceOwner): SliceChanges {
  const created = [...create];
  const updated = [...update];
  const deleted: EndpointSlice[] = [];
  for (const slice of surplus) {
    const next = created.at(-1);
    if (next && isOwnedBy(slice, service) && slice.addressType === next.addressType) {
      created.pop();
      updated.push({ ...next, metadata: { ...next.metadata, name: slice.metadata.name ?? "" } });
    } else deleted.push(slice);
  }
  return { create: service.metadata.deletionTimestamp === undefined ? created : [], update: updated, delete: deleted };
}
