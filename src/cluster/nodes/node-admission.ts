import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { hostPortsOf, UsedPorts } from "../controllers/shared/host-ports.ts";
import { requiredNodeAffinity } from "../controllers/shared/node-affinity.ts";
import { toleratesTaints } from "../controllers/shared/taints.ts";
import { shortageOf } from "./node-resources.ts";

/** Why a node does not run a Pod. */
export interface PodRejection {
  readonly reason: string;
  readonly message: string;
}

type Check = (node: Node, pod: Pod, others: readonly Pod[]) => boolean;

/** The checks of a kubelet besides resources, by the names of scheduler plugins. Upstream: generalFilter */
const CHECKS: readonly (readonly [name: string, isFine: Check, message: string])[] = [
  [
    "NodeAffinity",
    (node, { spec = {} }) => requiredNodeAffinity(spec)(node),
    "node(s) didn't match Pod's node affinity/selector",
  ],
  ["NodePorts", hasFreePorts, "node(s) didn't have free ports for the requested pod ports"],
  [
    "TaintToleration",
    ({ spec: { taints = [] } = {} }, { spec: { tolerations = [] } = {} }) =>
      toleratesTaints(tolerations, taints, ["NoExecute"]),
    "node(s) had taints that the pod didn't tolerate",
  ],
];

/** Why a node does not run a Pod besides the others. Undefined if it does. Upstream: predicateAdmitHandler */
export function podRejection(node: Node, pod: Pod, others: readonly Pod[]): PodRejection | undefined {
  const shortage = shortageOf(node, pod, others);
  if (shortage) return { reason: `OutOf${shortage.resource}`, message: shortage.message };
  const failed = CHECKS.find(([, isFine]) => !isFine(node, pod, others));
  return failed && { reason: failed[0], message: `Predicate ${failed[0]} failed: ${failed[2]}` };
}

function hasFreePorts(_node: Node, { spec = {} }: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(spec);
  if (wanted.length === 0) return true;
  const used = new UsedPorts();
  for (const other of others) for (const port of hostPortsOf(other.spec ?? {})) used.add(port);
  return !wanted.some((port) => used.has(port));
}
