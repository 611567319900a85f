import type { PodStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { conditionOf } from "./pods.ts";

/** Why a controller deletes a Pod. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
  readonly time: string;
  /** Whether the condition has an `observedGeneration`. Default: true. */
  readonly hasGeneration?: boolean;
}

const TYPE = "DisruptionTarget";

/** The members of a Pod's status that announce its deletion. Empty if it says so already. */
export function disruptedStatus(pod: Pod, { reason, message, time, hasGeneration = true }: Disruption): PodStatus {
  const known = conditionOf(pod, TYPE);
  if (known?.status === "True" && known.reason === reason && known.message === message) return {};
  const { generation } = pod.metadata;
  const lastTransitionTime = known?.status === "True" ? known.lastTransitionTime : time;
  const condition = { type: TYPE, status: "True", reason, message };
  return {
    conditions: [
      {
        ...condition,
        ...(hasGeneration && generation !== undefined && { observedGeneration: generation }),
        ...(lastTransitionTime !== undefined && { lastTransitionTime }),
      },
    ],
  };
}

/** Merges members into the status of a Pod, unless there are none. Throws Conflict if another Pod has its name. */
export async function patchPodStatus(
  client: ObjectClient,
  resource: ServedResource,
  { metadata: { namespace = "", name = "", uid } }: Pod,
  status: PodStatus,
): Promise<void> {
  if (Object.keys(status).length === 0) return;
  const patch = { metadata: { uid }, status };
  await client.patch(resource, { namespace, name }, patch, { isStrategic: true, subresource: "status" });
}
