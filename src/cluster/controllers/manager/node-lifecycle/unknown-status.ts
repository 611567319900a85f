import type { Node, NodeCondition } from "../../../../kinds/types/node.ts";
import { conditionOf } from "../../shared/nodes.ts";

/** Conditions that only the kubelet posts. */
const POSTED = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The node with unknown conditions, because its kubelet is silent. Undefined if the condition Ready says so already. */
export function withUnknownStatus(node: Node, time: string): Node | undefined {
  const ready = conditionOf(node, "Ready");
  if (ready?.status === "Unknown") return undefined;
  const { conditions = [] } = node.status ?? {};
  const { creationTimestamp } = node.metadata;
  const missing = POSTED.filter((type) => conditionOf(node, type) === undefined);
  const changed = conditions.map((one) => (POSTED.includes(one.type) ? unknown(one, time) : one));
  const added = missing.map((type) => ({
    type,
    status: "Unknown",
    ...(creationTimestamp !== undefined && { lastHeartbeatTime: creationTimestamp }),
    lastTransitionTime: time,
    reason: "NodeStatusNeverUpdated",
    message: "Kubelet never posted node status.",
  }));
  return { ...node, status: { ...node.status, conditions: [...changed, ...added] } };
}

function unknown(condition: NodeCondition, time: string): NodeCondition {
  if (condition.status === "Unknown") return condition;
  return {
    ...condition,
    status: "Unknown",
    lastTransitionTime: time,
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
  };
}
