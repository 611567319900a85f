import { getMember } from "../../../base/util/members.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { EventOfInterest } from "../cluster-events.ts";
import { affinityTermsOf, matchesAllTerms, matchesAnyTerm } from "./affinity-terms.ts";

/** Changes that may make a Pod schedulable that affinity or anti-affinity has rejected. */
export const AFFINITY_EVENTS: readonly EventOfInterest[] = [
  {
    resource: "AssignedPod",
    actions: ["Add", "UpdatePodLabel", "Delete"],
    hint: (pod, before, after) => mayHelp(pod, before as Pod | undefined, after as Pod | undefined),
  },
  { resource: "TargetPod", actions: ["UpdatePodLabel"] },
  {
    resource: "Node",
    actions: ["Add", "UpdateNodeLabel"],
    hint: (pod, before, after) => isDomainChanged(pod, before as Node | undefined, after as Node),
  },
];

function mayHelp(pod: Pod, before: Pod | undefined, after: Pod | undefined): boolean {
  const isPlaced = (other: Pod | undefined) =>
    other === undefined || Boolean(other.spec?.nodeName || other.status?.nominatedNodeName);
  if (!isPlaced(before) || !isPlaced(after)) return false;
  const { required, requiredAnti } = affinityTermsOf(pod);
  const wasRequired = before !== undefined && matchesAllTerms(required, before);
  if (after !== undefined && !wasRequired && matchesAllTerms(required, after)) return true;
  if (before === undefined) return false;
  const isRejected = after !== undefined && matchesAnyTerm(requiredAnti, after);
  if (!isRejected && matchesAnyTerm(requiredAnti, before)) return true;
  return after === undefined && matchesAnyTerm(affinityTermsOf(before).requiredAnti, pod);
}

/** A node without the label of an anti-affinity term is always possible, so that a new node always may be. */
function isDomainChanged(pod: Pod, before: Node | undefined, after: Node): boolean {
  const { required, requiredAnti } = affinityTermsOf(pod);
  const domainOf = (node: Node | undefined, key: string) => getMember(node?.metadata.labels ?? {}, key);
  for (const { topologyKey } of required) {
    const domain = domainOf(after, topologyKey);
    if (domain !== undefined && domain !== domainOf(before, topologyKey)) return true;
  }
  if (before === undefined) return requiredAnti.length > 0;
  return requiredAnti.some(({ topologyKey }) => {
    const domain = domainOf(before, topologyKey);
    return domain !== undefined && domain !== domainOf(after, topologyKey);
  });
}
