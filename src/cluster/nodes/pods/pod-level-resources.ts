import { isDeepStrictEqual } from "node:util";
import { podAmounts, type Side } from "../../../access/admission/plugins/pod-resources.ts";
import { printQuantity } from "../../../base/api/quantity.ts";
import type { Texts } from "../../../kinds/types/meta.ts";
import type { PodStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";

/**
 * The resources of a Pod with pod-level resources, as its status shows them. Upstream: getEffectiveAllocatedResources
 *
 * Differs: a kubelet shows the sum of all containers for other Pods, too.
 */
export function podLevelStatus(pod: Pod): Pick<PodStatus, "resources" | "allocatedResources"> {
  if (pod.spec?.resources === undefined) return {};
  const requests = amountsOf(pod, "requests");
  const limits = amountsOf(pod, "limits");
  const resources = { ...(requests && { requests }), ...(limits && { limits }) };
  return { resources, ...(requests && { allocatedResources: requests }) };
}

/** Whether the pod-level resources of a Pod have changed since it got them. */
export function isPodLevelResized(pod: Pod): boolean {
  const { resources: before } = pod.status ?? {};
  return before !== undefined && !isDeepStrictEqual(before, podLevelStatus(pod).resources);
}

function amountsOf(pod: Pod, side: Side): Texts | undefined {
  const amounts = podAmounts(pod, side);
  if (amounts.size === 0) return undefined;
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, printQuantity(amount)]));
}
