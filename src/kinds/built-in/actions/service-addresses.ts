import { ApiError, internalError } from "../../../base/api/api-error.ts";
import { invalidField } from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseLooseAddress } from "../../../base/net/ip-address.ts";
import { type AddressRange, addressNumber, parseRange, printNumber, printRange } from "../../../base/net/ip-range.ts";
import type { Random } from "../../../base/util/random.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { addressRecord, canonicalAddress, IP_ADDRESSES } from "../../types/ip-address.ts";
import { readObjects, readTexts } from "../cells.ts";
import { refuse } from "./service-refusal.ts";

const DEFAULT_RANGE = "kubernetes";

/** The IP families and ServiceCIDRs that ClusterIPs are allocated from. */
export interface ServiceNetwork {
  /** The IP families that Services can have, the default first. */
  readonly families: readonly string[];
  readonly ranges: readonly AddressRange[];
}

const familyOfRange = ({ size }: AddressRange): string => (size === 4 ? "IPv4" : "IPv6");

function parseRanges(range: KubeObject | undefined): AddressRange[] {
  return range ? readTexts(range, ".spec.cidrs").flatMap((text) => parseRange(text) ?? []) : [];
}

/** The ServiceCIDRs that are ready. IP families are those of the range that the server was started with. */
export async function readServiceNetwork(access: ObjectAccess, freshness: "newest" | "any"): Promise<ServiceNetwork> {
  const found = await access.list(IP_ADDRESSES.group, "servicecidrs", "", freshness);
  const own = parseRanges(found.find(({ metadata }) => metadata.name === DEFAULT_RANGE));
  const ranges = found.filter(isReady).flatMap(parseRanges);
  const families = [...new Set((own.length > 0 ? own : ranges).map(familyOfRange))];
  return { families: families.length > 0 ? families : ["IPv4"], ranges };
}

/** Compat: a ServiceCIDR without the condition Ready counts as ready. */
function isReady(range: KubeObject): boolean {
  const ready = readObjects(range, ".status.conditions").find(({ type }) => type === "Ready");
  return range.metadata.deletionTimestamp === undefined && (ready?.status ?? "True") === "True";
}

/** Creates the IPAddress of a Service; false if it already exists in the store. */
async function take(access: ObjectAccess, service: KubeObject, address: string): Promise<boolean> {
  try {
    await access.create(IP_ADDRESSES.group, IP_ADDRESSES.resource, addressRecord(service, address));
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 409) return false;
    throw error;
  }
}

/** Deletes the IPAddress of a ClusterIP if it belongs to this Service. */
export async function releaseAddress(access: ObjectAccess, service: KubeObject, address: string): Promise<void> {
  const key = { namespace: "", name: canonicalAddress(address) };
  const record = await access.find(IP_ADDRESSES.group, IP_ADDRESSES.resource, key);
  const parent: JsonObject = isObject(record?.spec) && isObject(record.spec.parentRef) ? record.spec.parentRef : {};
  const { namespace = "", name = "" } = service.metadata;
  const isOwn = parent.resource === "services" && parent.namespace === namespace && (parent.name ?? "") === name;
  if (!isOwn) return;
  try {
    await access.delete(IP_ADDRESSES.group, IP_ADDRESSES.resource, key, {
      preconditions: { uid: record?.metadata.uid },
    });
  } catch (error) {
    // Another server has already cleaned up.
    if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
  }
}

/** A requested ClusterIP of a family; any address if `address` is empty. */
export interface AddressWish {
  readonly service: KubeObject;
  readonly addresses: readonly string[];
  readonly family: string;
  readonly address: string;
  readonly dryRun: boolean;
}

/** Allocates the requested ClusterIP, or any one. Returns it. Throws 422 Invalid, or 500 if the range is full. */
export async function takeAddress(access: ObjectAccess, network: ServiceNetwork, wish: AddressWish): Promise<string> {
  const ranges = network.ranges.filter((range) => familyOfRange(range) === wish.family);
  const what = wish.address === "" ? "IP" : `IP ${wish.address}`;
  const refusal = (problem: string) =>
    refuse(wish.service, [invalidField("spec.clusterIPs", wish.addresses, `failed to allocate ${what}: ${problem}`)]);
  try {
    if (wish.address === "") return await takeAny(access, ranges, wish);
    const problem = await takeThis(access, ranges, wish);
    if (problem === undefined) return wish.address;
    throw refusal(problem);
  } catch (error) {
    const isAboutRecord = error instanceof ApiError && error.status.details?.kind === "IPAddress";
    throw isAboutRecord ? refusal(error.message) : error;
  }
}

async function takeThis(
  access: ObjectAccess,
  ranges: readonly AddressRange[],
  { service, address, dryRun }: AddressWish,
): Promise<string | undefined> {
  const plain = canonicalAddress(address);
  const number = addressNumber(parseLooseAddress(plain) ?? new Uint8Array());
  const [first] = ranges;
  if (!ranges.some((range) => number >= firstOf(range) && number <= lastOf(range))) {
    // Compat: a dry run of the allocator looks at a single ServiceCIDR, hence "is not in the valid range" instead of
    // "does not match the current range".
    if (!dryRun || !first) return "the provided network does not match the current range";
    return `the provided IP (${plain}) is not in the valid range. The range of valid IPs is ${printRange(first)}`;
  }
  if (dryRun || (await take(access, service, plain))) return undefined;
  return "provided IP is already allocated";
}

const firstOf = ({ lowest }: AddressRange): bigint => lowest + 1n;
/** Compat: the last address of an IPv4 ServiceCIDR is its broadcast address and is never allocated. */
const lastOf = ({ highest, size }: AddressRange): bigint => (size === 4 ? highest - 1n : highest);

async function takeAny(
  access: ObjectAccess,
  ranges: readonly AddressRange[],
  { service, dryRun }: AddressWish,
): Promise<string> {
  const [first] = ranges;
  // Compat: a dry run allocates the network address of the ServiceCIDR, which no Service can have.
  if (dryRun && first) return printNumber(first.lowest, first.size);
  for (const range of ranges) {
    for (const [low, high] of bandsOf(range)) {
      const found = await takeFrom(access, service, { low, high, size: range.size });
      if (found !== undefined) return found;
    }
  }
  const { name = "" } = service.metadata;
  throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
}

/** The upper band of a ServiceCIDR, then the lower one, which is reserved for static ClusterIPs (KEP-3070). */
function bandsOf(range: AddressRange): [bigint, bigint][] {
  const [low, high] = [firstOf(range), lastOf(range)];
  const count = range.highest - range.lowest + 1n;
  const sixteenth = count / 16n;
  const offset = count <= 16n ? 0n : sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth;
  const bands: [bigint, bigint][] = [
    [low + offset, high],
    [low, low + offset - 1n],
  ];
  return bands.filter(([from, to]) => from <= to);
}

interface Band {
  readonly low: bigint;
  readonly high: bigint;
  readonly size: number;
}

const BLIND_TRIES = 4;

/** Tries a few random addresses; if they are taken, searches for free ones. */
async function takeFrom(access: ObjectAccess, service: KubeObject, band: Band): Promise<string | undefined> {
  const { low, high, size } = band;
  const count = high - low + 1n;
  for (let tries = 0; tries < BLIND_TRIES; tries++) {
    const address = printNumber(low + randomBelow(access.random, count), size);
    if (await take(access, service, address)) return address;
  }
  const records = await access.list(IP_ADDRESSES.group, IP_ADDRESSES.resource, "");
  const taken = new Set(records.map(({ metadata }) => metadata.name));
  const start = randomBelow(access.random, count);
  for (let step = 0n; step < count; step++) {
    const address = printNumber(low + ((start + step) % count), size);
    if (!taken.has(address) && (await take(access, service, address))) return address;
  }
  return undefined;
}

function randomBelow(random: Random, count: bigint): bigint {
  return addressNumber(random.bytes(16)) % count;
}
