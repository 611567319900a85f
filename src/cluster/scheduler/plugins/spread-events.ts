import { isDeepStrictEqual } from "node:util";
import type { Texts } from "../../../kinds/types/meta.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { EventOfInterest } from "../cluster-events.ts";
import { hasTopologyKeys, type SpreadConstraint } from "./spread-constraints.ts";

/** Changes that may make a Pod schedulable that constraints have rejected. `constraintsOf`: those that reject nodes. */
export function spreadEvents(constraintsOf: (pod: Pod) => readonly SpreadConstraint[]): EventOfInterest[] {
  return [
    {
      resource: "AssignedPod",
      actions: ["Add", "UpdatePodLabel", "Delete"],
      hint(pod, before, after) {
        const changed = [before, after].filter((one) => one !== undefined) as Pod[];
        if (!changed.every((other) => isSpreadWith(pod, other))) return false;
        const constraints = constraintsOf(pod);
        if (before && after) return isMatchChanged(constraints, before.metadata.labels, after.metadata.labels);
        return changed.some(({ metadata }) => constraints.some(({ matches }) => matches(metadata.labels)));
      },
    },
    {
      resource: "TargetPod",
      actions: ["UpdatePodToleration", "UpdatePodLabel"],
      hint(pod, before, after) {
        const constraints = constraintsOf(pod);
        const [{ spec: old } = {}, { spec: current } = {}] = [before, after] as (Pod | undefined)[];
        const isTolerationChanged = !isDeepStrictEqual(old?.tolerations ?? [], current?.tolerations ?? []);
        if (isTolerationChanged && constraints.some(({ honorsTaints }) => honorsTaints)) return true;
        return isMatchChanged(constraints, before?.metadata.labels, after?.metadata.labels);
      },
    },
    {
      resource: "Node",
      actions: ["Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"],
      hint: (pod, before, after) =>
        isNodeChanged(constraintsOf(pod), before as Node | undefined, after as Node | undefined),
    },
  ];
}

function isSpreadWith(pod: Pod, { metadata, spec, status }: Pod): boolean {
  const isPlaced = Boolean(spec?.nodeName || status?.nominatedNodeName);
  return isPlaced && metadata.namespace === pod.metadata.namespace;
}

function isMatchChanged(
  constraints: readonly SpreadConstraint[],
  before: Texts | undefined,
  after: Texts | undefined,
): boolean {
  return constraints.some(({ matches }) => matches(before) !== matches(after));
}

/** Whether a node comes, goes, or changes its domain or taints. Nodes without all topology keys do not matter. */
function isNodeChanged(
  constraints: readonly SpreadConstraint[],
  before: Node | undefined,
  after: Node | undefined,
): boolean {
  const isCounted = (node: Node | undefined) => node !== undefined && hasTopologyKeys(labelsOf(node), constraints);
  if (isCounted(before) !== isCounted(after)) return true;
  if (before === undefined || after === undefined || !isCounted(after)) return false;
  const domainOf = (node: Node, { topologyKey }: SpreadConstraint) => labelsOf(node)[topologyKey];
  return (
    constraints.some((constraint) => domainOf(before, constraint) !== domainOf(after, constraint)) ||
    !isDeepStrictEqual(before.spec?.taints ?? [], after.spec?.taints ?? [])
  );
}

const labelsOf = (node: Node): Texts => node.metadata.labels ?? {};
