import { type LabelRequirement, type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import { readLabelMap } from "../../../base/api/selector-object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "../../../kinds/types/pod.ts";

/** Whether Pods of a spec may run on a node, by their node selector and required node affinity. */
export type NodeMatcher = (node: Node) => boolean;

const OPERATORS: Readonly<Record<string, LabelRequirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
};

/** Reads the node selector and node affinity of a spec. Upstream: RequiredNodeAffinity */
export function requiredNodeAffinity({ nodeSelector, affinity }: PodSpec): NodeMatcher {
  const labels = readLabelMap(nodeSelector);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const matches = required && nodeSelectorMatcher(required);
  return (node) => matchesLabels(labels, node.metadata.labels) && (matches === undefined || matches(node));
}

/** Reads a node selector. It matches if one of its terms does. Upstream: NewLazyErrorNodeSelector */
export function nodeSelectorMatcher({ nodeSelectorTerms = [] }: NodeSelector): NodeMatcher {
  const terms = nodeSelectorTerms.flatMap((term) => readTerm(term) ?? []);
  return (node) => terms.some((term) => term(node));
}

/** Undefined if the term matches no node: it is empty or malformed. */
function readTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher | undefined {
  if (matchExpressions.length === 0 && matchFields.length === 0) return undefined;
  const labels = readRequirements(matchExpressions);
  const fields = readRequirements(matchFields);
  const isValid = matchFields.every(
    ({ operator, values }) => (operator === "In" || operator === "NotIn") && values?.length === 1,
  );
  if (!labels || !fields || !isValid) return undefined;
  return ({ metadata }) =>
    matchesLabels(labels, metadata.labels) && matchesLabels(fields, { "metadata.name": metadata.name });
}

function readRequirements(list: readonly NodeSelectorRequirement[]): LabelSelector | undefined {
  const requirements: LabelRequirement[] = [];
  for (const { key = "", operator = "", values = [] } of list) {
    const known = getMember(OPERATORS, operator);
    if (known === undefined) return undefined;
    requirements.push({ key, operator: known, values });
  }
  return requirements;
}
