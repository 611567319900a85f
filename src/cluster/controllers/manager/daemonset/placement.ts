import type { Node } from "../../../../kinds/types/node.ts";
import type { PodSpec, Toleration } from "../../../../kinds/types/pod.ts";
import { requiredNodeAffinity } from "../../shared/node-affinity.ts";
import { toleratesTaints } from "../../shared/taints.ts";

/** What a node means for a DaemonSet. */
export interface Placement {
  /** A Pod must run there. */
  readonly shouldRun: boolean;
  /** A Pod that runs there may stay. */
  readonly shouldContinue: boolean;
}

const NOWHERE: Placement = { shouldRun: false, shouldContinue: false };

const tolerated = (key: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect,
});
const TOLERATED: readonly Toleration[] = [
  tolerated("not-ready", "NoExecute"),
  tolerated("unreachable", "NoExecute"),
  tolerated("disk-pressure", "NoSchedule"),
  tolerated("memory-pressure", "NoSchedule"),
  tolerated("pid-pressure", "NoSchedule"),
  tolerated("unschedulable", "NoSchedule"),
];
const TOLERATED_ON_HOST_NETWORK = tolerated("network-unavailable", "NoSchedule");

/** The tolerations of a template and those of all Pods of DaemonSets. */
export function daemonTolerations({ tolerations = [], hostNetwork = false }: PodSpec): Toleration[] {
  const result = [...tolerations];
  for (const added of hostNetwork ? [...TOLERATED, TOLERATED_ON_HOST_NETWORK] : TOLERATED) {
    const isSame = ({ key, operator, effect, value = "" }: Toleration) =>
      key === added.key && operator === added.operator && effect === added.effect && value === "";
    if (!result.some(isSame)) result.push({ ...added });
    // Without an end of the toleration.
    else for (const [index, one] of result.entries()) if (isSame(one)) result[index] = { ...added };
  }
  return result;
}

/** Upstream: NodeShouldRunDaemonPod. Whether nodes are schedulable and ready shows in their taints. */
export function placementRule(spec: PodSpec): (node: Node) => Placement {
  const tolerations = daemonTolerations(spec);
  const matches = requiredNodeAffinity(spec);
  const { nodeName = "" } = spec;
  return (node) => {
    if (nodeName !== "" && nodeName !== node.metadata.name) return NOWHERE;
    if (!matches(node)) return NOWHERE;
    const taints = node.spec?.taints ?? [];
    return {
      shouldRun: toleratesTaints(tolerations, taints, ["NoExecute", "NoSchedule"]),
      shouldContinue: toleratesTaints(tolerations, taints, ["NoExecute"]),
    };
  };
}
