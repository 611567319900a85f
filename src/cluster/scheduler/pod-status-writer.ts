import type { JsonObject } from "../../base/api/object.ts";
import type { PodCondition } from "../../kinds/types/pod-status.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { printTime } from "../../resources/write/metadata.ts";
import { type ControllerContext, unlessCode } from "../controllers/shared/controller.ts";
import { conditionOf } from "../controllers/shared/pods.ts";

/** What the scheduler writes about a Pod. */
export interface PodStatusChange {
  readonly condition?: Pick<PodCondition, "type" | "status" | "reason" | "message">;
  /** Empty: removes it. Absent: unchanged. */
  readonly nominatedNodeName?: string | undefined;
}

/** Writes a change of the status of a Pod, if it changes anything. Upstream: PatchPodStatus and UpdatePodCondition */
export async function writePodStatus(
  { client, resources }: ControllerContext,
  resource: ServedResource,
  pod: Pod,
  { condition, nominatedNodeName }: PodStatusChange,
): Promise<void> {
  const { namespace = "", name = "" } = pod.metadata;
  const status: JsonObject = {};
  if (nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? "")) {
    status.nominatedNodeName = nominatedNodeName === "" ? null : nominatedNodeName;
  }
  const changed = condition && changedCondition(pod, condition, resources.clock.now());
  if (changed) {
    status.conditions = [changed];
    // Without it, a new condition comes first.
    status["$setElementOrder/conditions"] = typesOf(pod, changed.type ?? "");
  }
  if (Object.keys(status).length === 0) return;
  const options = { isStrategic: true, subresource: "status" };
  await client.patch(resource, { namespace, name }, { status }, options).catch(unlessCode(404));
}

/** The types of all conditions, in order. A new one is the last. */
function typesOf({ status }: Pod, changed: string): JsonObject[] {
  const types = (status?.conditions ?? []).map(({ type = "" }) => type);
  return [...new Set([...types, changed])].map((type) => ({ type }));
}

function changedCondition(
  pod: Pod,
  condition: NonNullable<PodStatusChange["condition"]>,
  nowMs: number,
): PodCondition | undefined {
  const before = conditionOf(pod, condition.type ?? "");
  const isSame =
    before?.status === condition.status && before?.reason === condition.reason && before?.message === condition.message;
  if (isSame) return undefined;
  const observedGeneration = Number(pod.metadata.generation ?? 0);
  const hasTurned = before?.status !== condition.status;
  return {
    ...condition,
    ...(observedGeneration > 0 && { observedGeneration }),
    ...(hasTurned && { lastProbeTime: null, lastTransitionTime: printTime(nowMs) }),
  };
}
