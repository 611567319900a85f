import type { KubeObject } from "../../../base/api/object.ts";
import type { Node, NodeCondition } from "../../../kinds/types/node.ts";

/** The condition of a node with this type. */
export function conditionOf({ status }: Node, type: string): NodeCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether the condition Ready is true. */
export function isNodeReady(node: Node): boolean {
  return conditionOf(node, "Ready")?.status === "True";
}

/** A node as controllers refer to it in Events: without its resourceVersion. Upstream: RecordNodeEvent */
export function nodeEventTarget({ kind, apiVersion, metadata: { name, uid } }: Node): KubeObject {
  return { kind, apiVersion, metadata: { ...(name !== undefined && { name }), ...(uid !== undefined && { uid }) } };
}
