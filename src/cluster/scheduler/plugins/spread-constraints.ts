import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import { printLabelSelector, readLabelMap, readSelectorObject } from "../../../base/api/selector-object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Texts } from "../../../kinds/types/meta.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { TopologySpreadConstraint } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { type NodeMatcher, requiredNodeAffinity } from "../../controllers/shared/node-affinity.ts";
import { toleratesTaints } from "../../controllers/shared/taints.ts";
import { type PodCounter, PodCounters } from "../pod-counter.ts";

/** Whether a constraint rejects nodes or only prefers others. */
export type WhenUnsatisfiable = "DoNotSchedule" | "ScheduleAnyway";

/** A constraint of one Pod, read once. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** Counts Pods that match the selector on a node. */
  readonly countPods: PodCounter;
  /** Whether the selector matches these labels. */
  matches(labels: Texts | undefined): boolean;
  readonly honorsTaints: boolean;
  /** Whether Pods on the node are counted. Upstream: matchNodeInclusionPolicies */
  includes(node: Node): boolean;
}

const counters = new PodCounters();
const REJECTING = ["NoSchedule", "NoExecute"];

/** Reads constraints of one type. `selector` replaces theirs. Upstream: filterTopologySpreadConstraints */
export function readConstraints(
  constraints: readonly TopologySpreadConstraint[],
  type: WhenUnsatisfiable,
  pod: Pod,
  selector?: LabelSelector,
): SpreadConstraint[] {
  const chosen = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === type);
  if (chosen.length === 0) return [];
  const isPossible = requiredNodeAffinity(pod.spec ?? {});
  return chosen.map((constraint) =>
    readConstraint(constraint, pod, isPossible, selector ?? selectorOf(constraint, pod)),
  );
}

function readConstraint(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  isPossible: NodeMatcher,
  selector: LabelSelector | undefined,
): SpreadConstraint {
  const { topologyKey = "", maxSkew = 0, minDomains = 1 } = constraint;
  const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  const honorsAffinity = nodeAffinityPolicy === "Honor";
  const honorsTaints = nodeTaintsPolicy === "Honor";
  const tolerations = pod.spec?.tolerations ?? [];
  return {
    ...{ topologyKey, maxSkew, minDomains, honorsTaints },
    countPods: counterOf(pod.metadata.namespace ?? "", selector),
    matches: (labels) => selector !== undefined && matchesLabels(selector, labels),
    includes: (node) =>
      (!honorsAffinity || isPossible(node)) &&
      (!honorsTaints || toleratesTaints(tolerations, node.spec?.taints ?? [], REJECTING)),
  };
}

/** Undefined if the constraint selects no Pods. */
function selectorOf({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, { metadata }: Pod) {
  if (labelSelector === undefined) return undefined;
  const selector = readSelectorObject(labelSelector);
  if (selector === undefined) throw new Error("the labelSelector of a topology spread constraint is malformed");
  const labels: Texts = {};
  for (const key of matchLabelKeys) {
    const value = getMember(metadata.labels ?? {}, key);
    if (value !== undefined) labels[key] = value;
  }
  return [...readLabelMap(labels), ...selector];
}

/** Pods that are being deleted do not count, and an empty selector counts nothing. Upstream: countPodsMatchSelector */
function counterOf(namespace: string, selector: LabelSelector | undefined): PodCounter {
  if (selector === undefined || selector.length === 0) return counters.of("", () => false);
  return counters.of(`${namespace}/${printLabelSelector(selector)}`, (pod) => {
    const { deletionTimestamp, labels } = pod.pod.metadata;
    return pod.namespace === namespace && deletionTimestamp === undefined && matchesLabels(selector, labels);
  });
}

/** Whether a node has the labels of all topology keys. */
export function hasTopologyKeys(labels: Texts | undefined, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => labels !== undefined && Object.hasOwn(labels, topologyKey));
}
