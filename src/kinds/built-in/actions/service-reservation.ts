import { boundedErrors } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { Reservation, ReservingWrite } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { unusedNodePorts } from "../../types/range-allocation.ts";
import {
  addressesOf,
  hasClusterAddress,
  NO_ADDRESS,
  needsHealthCheck,
  nodePortsOf,
  type ServiceSpec,
  sameTexts,
  specOf,
  wantsNodePorts,
} from "../../types/service.ts";
import { keepsBothFamilies, settleFamilies } from "../core/service/service-families.ts";
import { readServiceNetwork, releaseAddress, type ServiceNetwork, takeAddress } from "./service-addresses.ts";
import { releaseNodePorts, takeNodePorts } from "./service-node-ports.ts";
import { refuse } from "./service-refusal.ts";

/** The ClusterIPs and nodePorts that a write allocates, or releases once it has happened. */
interface Claims {
  readonly addresses: string[];
  readonly ports: number[];
}

/** Allocates the ClusterIPs and nodePorts that a Service needs, and releases those it no longer uses. */
export async function reserveForService(
  { next, previous, context, dryRun }: ReservingWrite,
  access: ObjectAccess,
): Promise<Reservation | undefined> {
  if (!next) return previous && reservation(access, previous, emptyClaims(), claimsOf(previous));
  if (context.subresource !== "") return undefined;
  const old = previous && cloneJson(previous);
  if (old) patchAllocatedValues(specOf(next), specOf(old));
  normalizeClusterIPs(specOf(next), old && specOf(old));
  const network = await networkFor(access, specOf(next));
  const errors = boundedErrors(() => settleFamilies(specOf(next), old && specOf(old), network.families));
  if (errors.length > 0) throw refuse(next, errors);

  const taken = emptyClaims();
  try {
    await takeAddresses(access, network, { next, previous: old, dryRun, taken });
    addAll(taken.ports, await takeNodePorts(access, next, old, dryRun));
  } catch (error) {
    await giveBack(access, next, taken);
    throw error;
  }
  const unused = old ? unusedBy(specOf(next), specOf(old)) : emptyClaims();
  return reservation(access, next, taken, unused);
}

const emptyClaims = (): Claims => ({ addresses: [], ports: [] });

function claimsOf(service: KubeObject): Claims {
  const spec = specOf(service);
  return { addresses: [...addressesOf(spec)], ports: unusedNodePorts(undefined, spec) };
}

function unusedBy(spec: ServiceSpec, old: ServiceSpec): Claims {
  const kept = addressesOf(spec);
  return {
    addresses: addressesOf(old).filter((address) => !kept.includes(address)),
    ports: unusedNodePorts(spec, old),
  };
}

function reservation(access: ObjectAccess, service: KubeObject, taken: Claims, unused: Claims): Reservation {
  return {
    commit: () => giveBack(access, service, unused),
    release: () => giveBack(access, service, taken),
  };
}

async function giveBack(access: ObjectAccess, service: KubeObject, { addresses, ports }: Claims): Promise<void> {
  await Promise.all([
    releaseNodePorts(access, ports),
    ...addresses.map((address) => releaseAddress(access, service, address)),
  ]);
}

/**
 * Compat: an update without clusterIP, nodePort or healthCheckNodePort keeps the allocated ones
 * (`patchAllocatedValues`). Changes `spec`.
 */
function patchAllocatedValues(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterAddress(old) && hasClusterAddress(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs) spec.clusterIPs = [...old.clusterIPs];
  }
  if (wantsNodePorts(old) && wantsNodePorts(spec)) keepNodePorts(spec, old);
  if (needsHealthCheck(old) && needsHealthCheck(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const wanted = nodePortsOf(spec);
  const used = nodePortsOf(old).filter((port) => wanted.includes(port));
  const byName = new Map((old.ports ?? []).map(({ name = "", nodePort = 0 }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const known = byName.get(port.name ?? "") ?? 0;
    if (!port.nodePort && known !== 0 && !used.includes(known)) port.nodePort = known;
  }
}

/**
 * Compat: clients may set clusterIP or clusterIPs; upstream's `normalizeClusterIPs` makes them consistent. Changes
 * `spec`.
 */
function normalizeClusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (!old) {
    if (clusterIP !== "" && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  const { clusterIP: oldIP = "", clusterIPs: oldIPs = [] } = old;
  if (oldIPs.length > 0 && clusterIPs.length === 0 && clusterIP === oldIP) spec.clusterIPs = [...oldIPs];
  if (clusterIP === oldIP || !sameTexts(spec.clusterIPs, oldIPs)) return;
  if (clusterIP !== "") spec.clusterIPs = [clusterIP];
  else if (oldIP !== "") delete spec.clusterIPs;
}

/** The cached ServiceCIDRs; read from the store if there is none. */
async function networkFor(access: ObjectAccess, spec: ServiceSpec): Promise<ServiceNetwork> {
  const network = await readServiceNetwork(access, "any");
  return network.ranges.length > 0 || !hasClusterAddress(spec) ? network : readServiceNetwork(access, "newest");
}

interface Taking {
  readonly next: KubeObject;
  readonly previous: KubeObject | undefined;
  readonly dryRun: boolean;
  readonly taken: Claims;
}

async function takeAddresses(
  access: ObjectAccess,
  network: ServiceNetwork,
  { next, previous, dryRun, taken }: Taking,
): Promise<void> {
  const spec = specOf(next);
  const from = firstMissing(spec, previous && specOf(previous));
  if (from === undefined) return;
  const { clusterIPs = [], ipFamilies = [] } = spec;
  const addresses = [...clusterIPs, ...Array<string>(Math.max(0, ipFamilies.length - clusterIPs.length)).fill("")];
  const shown = [...addresses];
  for (const [index, family] of ipFamilies.entries()) {
    if (index < from) continue;
    const address = addresses[index] ?? "";
    const found = await takeAddress(access, network, { service: next, addresses: shown, family, address, dryRun });
    addresses[index] = found;
    if (!dryRun) taken.addresses.push(found);
  }
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

/** The index of the first address that the Service still needs; undefined if it needs none. */
function firstMissing(spec: ServiceSpec, old: ServiceSpec | undefined): number | undefined {
  if (!hasClusterAddress(spec) || keepsBothFamilies(spec, old)) return undefined;
  if (!old || !hasClusterAddress(old)) return spec.clusterIPs?.[0] === NO_ADDRESS ? undefined : 0;
  if (old.clusterIPs?.[0] === NO_ADDRESS) return undefined;
  return old.ipFamilies?.length === 1 && spec.ipFamilies?.length === 2 ? 1 : undefined;
}
