import { isDeepStrictEqual } from "node:util";
import type { DeviceRequest } from "../../../kinds/built-in/resource/types.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { isStatus } from "../../controllers/shared/controller.ts";
import { type Informer, keyOf } from "../../controllers/shared/informer.ts";
import { nodeSelectorMatcher } from "../../controllers/shared/node-affinity.ts";
import { claimNameOf, isForPod, isReservedFor, type ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import { type Filter, type MakePlugin, type PluginContext, unresolvable } from "../plugin.ts";

const NAME = "DynamicResources";
const NOT_AVAILABLE = unresolvable(NAME, "resourceclaim not available on the node");
const NOT_ALLOCATED = unresolvable(NAME, "cannot allocate all claims");

/** Differs: allocates no devices. Pods wait until their ResourceClaims are allocated, as if no driver had devices. */
export const dynamicResources: MakePlugin = (context) => {
  const { informer: claims } = context.informers.of<ResourceClaim>("resource.k8s.io", "resourceclaims");
  const { informer: classes } = context.informers.of("resource.k8s.io", "deviceclasses");
  const read = (pod: Pod) => readClaims(pod, claims);

  return {
    name: NAME,
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
      return claimFilter(context, claims, pod, found);
    },
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

function claimFilter(
  context: PluginContext,
  informer: Informer<ResourceClaim>,
  pod: Pod,
  claims: readonly ResourceClaim[],
): Filter {
  const isAllocated = claims.every(({ status }) => status?.allocation !== undefined);
  const matchers = claims.flatMap(({ status }) => {
    const selector = status?.allocation?.nodeSelector;
    return selector ? [nodeSelectorMatcher(selector)] : [];
  });
  const unreserved = claims.filter((claim) => !isReservedFor(claim, pod));
  return {
    check({ node }) {
      if (!isAllocated) return NOT_ALLOCATED;
      return node !== undefined && matchers.every((matches) => matches(node)) ? undefined : NOT_AVAILABLE;
    },
    ...(unreserved.length > 0 && {
      async preBind() {
        for (const claim of unreserved) await reserveClaim(context, informer, pod, claim);
      },
    }),
  };
}

/** Adds the Pod to the consumers of a claim. */
async function reserveClaim(
  { client }: PluginContext,
  informer: Informer<ResourceClaim>,
  pod: Pod,
  claim: ResourceClaim,
): Promise<void> {
  const { name = "", uid = "" } = pod.metadata;
  for (;;) {
    const known = informer.get(keyOf(claim));
    if (known?.metadata.uid !== claim.metadata.uid || known?.status?.allocation === undefined) {
      throw new Error(`claim ${keyOf(claim)} got deleted or deallocated in the meantime`);
    }
    if (isReservedFor(known, pod)) return;
    const reservedFor = [...(known.status.reservedFor ?? []), { resource: "pods", name, uid }];
    const next = structuredClone({ ...known, status: { ...known.status, reservedFor } });
    try {
      const { metadata } = await client.update(informer.resource, next, { subresource: "status" });
      return await informer.sees(metadata.resourceVersion);
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      await informer.changes(known);
    }
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
