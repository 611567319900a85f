import type { Pod } from "../../../kinds/types/workloads.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { isStatus } from "../../controllers/shared/controller.ts";
import { type Informer, keyOf } from "../../controllers/shared/informer.ts";
import { CLAIM_FINALIZER, isReservedFor, type ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import type { PluginContext } from "../plugin.ts";
import type { ClaimAllocation } from "./device-allocation.ts";

/**
 * Adds the Pod to the consumers of a claim, and the devices of a claim that is not allocated yet. Upstream: bindClaim
 */
export async function bindClaim(
  { client, resources }: PluginContext,
  informer: Informer<ResourceClaim>,
  pod: Pod,
  claim: ResourceClaim,
  allocation: ClaimAllocation | undefined,
): Promise<void> {
  for (;;) {
    const known = informer.get(keyOf(claim));
    if (known?.metadata.uid !== claim.metadata.uid || known?.metadata.deletionTimestamp !== undefined) {
      throw new Error(`claim ${keyOf(claim)} got deleted in the meantime`);
    }
    if (known === undefined || (known.status?.allocation === undefined) !== (allocation !== undefined)) {
      throw new Error(`claim ${keyOf(claim)} got ${allocation ? "" : "de"}allocated elsewhere in the meantime`);
    }
    if (isReservedFor(known, pod)) return;
    const write = async () => {
      // The status cannot be written together with the finalizer.
      const { finalizers = [] } = known.metadata;
      const isProtected = allocation === undefined || finalizers.includes(CLAIM_FINALIZER);
      const metadata = { ...known.metadata, finalizers: [...finalizers, CLAIM_FINALIZER] };
      const kept = isProtected
        ? known
        : await client.update(informer.resource, structuredClone({ ...known, metadata }));
      const status = statusWith(kept, pod, allocation, printTime(resources.clock.now()));
      const written = await client.update(informer.resource, structuredClone({ ...kept, status }), {
        subresource: "status",
      });
      await informer.sees(written.metadata.resourceVersion);
    };
    try {
      return await write();
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      await informer.changes(known);
    }
  }
}

function statusWith(
  { status = {} }: ResourceClaim,
  { metadata: { name = "", uid = "" } }: Pod,
  allocation: ClaimAllocation | undefined,
  now: string,
): NonNullable<ResourceClaim["status"]> {
  const reservedFor = [...(status.reservedFor ?? []), { resource: "pods", name, uid }];
  return { ...status, ...(allocation && { allocation: { ...allocation, allocationTimestamp: now } }), reservedFor };
}
