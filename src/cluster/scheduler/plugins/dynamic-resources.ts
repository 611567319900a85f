import { isDeepStrictEqual } from "node:util";
import type { AllocationResult, DeviceRequest } from "../../../kinds/built-in/resource/types.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { type Informer, keyOf } from "../../controllers/shared/informer.ts";
import { type NodeMatcher, nodeSelectorMatcher } from "../../controllers/shared/node-affinity.ts";
import { claimNameOf, isForPod, isReservedFor, type ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import { claimDevices, deviceKey, resultsOf } from "../../controllers/shared/resource-slices.ts";
import type { NodeInfo } from "../node-info.ts";
import {
  type Filter,
  type MakePlugin,
  normalizeScores,
  type PluginContext,
  type Rejection,
  unresolvable,
} from "../plugin.ts";
import { bindClaim } from "./bind-claims.ts";
import { allocationOf } from "./device-allocation.ts";
import { type AllocatedDevice, DeviceAllocator, type DeviceClass } from "./device-allocator.ts";
import { DevicePools, type NodeDevice } from "./device-pools.ts";

const GROUP = "resource.k8s.io";
const NAME = "DynamicResources";
const NOT_AVAILABLE = unresolvable(NAME, "resourceclaim not available on the node");
const NOT_ALLOCATED = unresolvable(NAME, "cannot allocate all claims");
/** Upstream: FirstAvailableDeviceRequestMaxSize */
const MAX_ALTERNATIVES = 8;

/** Allocates the devices of ResourceClaims. Differs: takes no devices back from claims that no node can use. */
export const dynamicResources: MakePlugin = (context) => {
  const { informer: claims } = context.informers.of<ResourceClaim>(GROUP, "resourceclaims");
  const { informer: classes } = context.informers.of<DeviceClass>(GROUP, "deviceclasses");
  const read = (pod: Pod) => readClaims(pod, claims);
  const pools = new DevicePools(context.informers);
  const pending: PendingAllocations = new Map();
  const filterContext = { ...context, claims, classes, pools, pending };

  return {
    name: NAME,
    uses: pools.informers,
    events: [
      { resource: "Node", actions: ["Add", "UpdateNodeLabel", "UpdateNodeAllocatable"] },
      {
        resource: "ResourceClaim",
        actions: ["Add", "Update", "Delete"],
        hint: (pod, before, after) =>
          isClaimOfInterest(read(pod), before as ResourceClaim | undefined, after as ResourceClaim | undefined),
      },
      {
        resource: "TargetPod",
        actions: ["UpdatePodGeneratedResourceClaim"],
        hint: (_pod, _before, after) => typeof read(after as Pod) !== "string",
      },
      { resource: "DeviceClass", actions: ["Add", "Update"] },
      { resource: "ResourceSlice", actions: ["Add", "Update"] },
    ],
    preEnqueue(pod) {
      const found = read(pod);
      return typeof found === "string" ? found : undefined;
    },
    filter({ pod }): Filter | undefined {
      const found = read(pod);
      if (typeof found === "string") return rejecting(found);
      if (found.length === 0) return undefined;
      const missing = found.flatMap(classesOf).find(([, name]) => classes.get(name) === undefined);
      if (missing) return rejecting(`request ${missing[0]}: device class ${missing[1]} does not exist`);
      const busy = found.find(({ metadata }) => pending.has(metadata.uid ?? ""));
      if (busy) return rejecting(`resource claim ${keyOf(busy)} is in the process of being allocated`);
      return new ClaimFilter(filterContext, pod, found);
    },
    score: (_pod, _nodes, filter) =>
      filter instanceof ClaimFilter && filter.hasAlternatives
        ? { score: ({ name }) => filter.rankOn(name), normalize: (scores) => normalizeScores(scores) }
        : undefined,
    postFilter: ({ general }) =>
      // Compat: `PostFilter` fails if an earlier plugin has rejected all nodes, and DefaultPreemption is not called.
      general !== undefined && general.plugin !== NAME ? { message: "not found", isFinal: true } : {},
  };
};

function rejecting(reason: string): Filter {
  const rejection = unresolvable(NAME, reason);
  return { rejection, check: () => rejection };
}

/** The claims of a Pod. A string is the reason why it cannot be scheduled yet. Upstream: foreachPodResourceClaim */
function readClaims(pod: Pod, claims: Informer<ResourceClaim>): ResourceClaim[] | string {
  const found: ResourceClaim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const name = claimNameOf(pod, entry);
    if (name.state === "missing") return `pod ${JSON.stringify(keyOf(pod))}: ResourceClaim not created yet`;
    if (name.state === "skipped") continue;
    const key = `${pod.metadata.namespace}/${name.name}`;
    const claim = claims.get(key);
    if (claim === undefined) return `could not find ResourceClaim ${JSON.stringify(key)}`;
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `resourceclaim ${JSON.stringify(name.name)} is being deleted`;
    }
    if (name.isGenerated && !isForPod(claim, pod)) {
      return `ResourceClaim ${key} was not created for Pod ${keyOf(pod)} (Pod is not owner)`;
    }
    found.push(claim);
  }
  return found;
}

/** The requests of a claim that is not allocated, each with its DeviceClass. */
function classesOf({ spec, status }: ResourceClaim): (readonly [request: string, className: string])[] {
  if (status?.allocation !== undefined) return [];
  return (spec?.devices?.requests ?? []).flatMap(({ name = "", exactly, firstAvailable = [] }: DeviceRequest) => [
    ...(exactly ? [[name, exactly.deviceClassName ?? ""] as const] : []),
    ...firstAvailable.map((one) => [`${name}/${one.name}`, one.deviceClassName ?? ""] as const),
  ]);
}

/** Keys of the devices of claims whose allocation is being written, by the uid of the claim. */
type PendingAllocations = Map<string, ReadonlySet<string>>;

interface FilterContext extends PluginContext {
  readonly claims: Informer<ResourceClaim>;
  readonly classes: Informer<DeviceClass>;
  readonly pools: DevicePools;
  readonly pending: PendingAllocations;
}

class ClaimFilter implements Filter {
  readonly #context: FilterContext;
  readonly #pod: Pod;
  readonly #claims: readonly ResourceClaim[];
  readonly #unallocated: readonly ResourceClaim[];
  readonly #allocator: DeviceAllocator;
  readonly #matchers: readonly NodeMatcher[];
  /** Devices for `#unallocated`, by node. */
  readonly #found = new Map<string, readonly (readonly AllocatedDevice[])[]>();
  preBind?: (node: NodeInfo) => Promise<void>;

  constructor(context: FilterContext, pod: Pod, claims: readonly ResourceClaim[]) {
    const { classes, pools } = context;
    this.#context = context;
    this.#pod = pod;
    this.#claims = claims;
    this.#unallocated = claims.filter(({ status }) => status?.allocation === undefined);
    const isInUse = (device: NodeDevice) => this.#isInUse(device);
    const taintsOf = (device: NodeDevice) => pools.taintsOf(device);
    const deviceClass = (name: string) => classes.get(name);
    this.#allocator = new DeviceAllocator({ deviceClass, isInUse, taintsOf }, this.#unallocated);
    this.#matchers = claims.flatMap(({ status }) => {
      const selector = status?.allocation?.nodeSelector;
      return selector ? [nodeSelectorMatcher(selector)] : [];
    });
    if (claims.some((claim) => !isReservedFor(claim, pod))) this.preBind = ({ name }) => this.#write(name);
  }

  get hasAlternatives(): boolean {
    return this.#unallocated.some(({ spec }) => (spec?.devices?.requests ?? []).some((one) => one.firstAvailable));
  }

  check({ node, name }: NodeInfo): Rejection | undefined {
    if (node === undefined) return NOT_AVAILABLE;
    if (this.#unallocated.length > 0) {
      const found = this.#allocator.allocate(node, this.#context.pools.devicesOf(node));
      if (found === undefined) return NOT_ALLOCATED;
      this.#found.set(name, found);
    }
    return this.#matchers.every((matches) => matches(node)) ? undefined : NOT_AVAILABLE;
  }

  /** Prefers earlier alternatives of requests. Upstream: computeScore */
  rankOn(nodeName: string): number {
    let score = 0;
    for (const allocated of this.#found.get(nodeName) ?? []) {
      for (const { rank } of new Set(allocated.map(({ wanted }) => wanted))) {
        if (rank !== undefined) score += MAX_ALTERNATIVES - rank;
      }
    }
    return score;
  }

  /** Other Pods see the devices as taken before they are written. */
  reserve({ name }: NodeInfo): undefined {
    const found = this.#found.get(name) ?? [];
    this.#unallocated.forEach(({ metadata }, index) => {
      const keys = (found[index] ?? []).filter(({ wanted }) => !wanted.request.adminAccess);
      this.#context.pending.set(metadata.uid ?? "", new Set(keys.map(({ device }) => device.key)));
    });
  }

  unreserve(): void {
    for (const { metadata } of this.#unallocated) this.#context.pending.delete(metadata.uid ?? "");
  }

  async #write(nodeName: string): Promise<void> {
    const found = this.#found.get(nodeName) ?? [];
    for (const claim of this.#claims) {
      const allocated = found[this.#unallocated.indexOf(claim)];
      const allocation = allocated && allocationOf(claim, allocated);
      if (!isReservedFor(claim, this.#pod)) {
        await bindClaim(this.#context, this.#context.claims, this.#pod, claim, allocation);
      }
    }
    this.unreserve();
  }

  #isInUse({ key }: NodeDevice): boolean {
    const { claims, pending } = this.#context;
    for (const claim of claims.index(claimDevices).get(key)) {
      const isUser = ({ driver, pool, device, adminAccess }: AllocationResult) =>
        !adminAccess && deviceKey(driver, pool, device) === key;
      if (resultsOf(claim).some(isUser)) return true;
    }
    for (const keys of pending.values()) if (keys.has(key)) return true;
    return false;
  }
}

/** Upstream: isSchedulableAfterClaimChange */
function isClaimOfInterest(
  own: readonly ResourceClaim[] | string,
  before: ResourceClaim | undefined,
  after: ResourceClaim | undefined,
): boolean {
  const wasAllocated = before?.status?.allocation !== undefined;
  if (after === undefined) return wasAllocated;
  if (typeof own === "string") return false;
  if (wasAllocated && after.status?.allocation === undefined) return true;
  if (!own.some(({ metadata }) => metadata.uid === after.metadata.uid)) return false;
  return before === undefined || !isDeepStrictEqual(before.status, after.status);
}
