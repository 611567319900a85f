import type { Node } from "../../../kinds/types/node.ts";
import type { NodeAffinity, NodeSelector, PreferredSchedulingTerm } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { type NodeMatcher, nodeSelectorMatcher, requiredNodeAffinity } from "../../controllers/shared/node-affinity.ts";
import { type Filter, type MakePlugin, normalizeScores, unresolvable } from "../plugin.ts";

const NAME = "NodeAffinity";
const OTHER_NODES = unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector");
const NOT_ENFORCED = unresolvable(NAME, "node(s) didn't match scheduler-enforced node affinity");
const CONFLICT = unresolvable(NAME, "pod affinity terms conflict");

/** NodeAffinityArgs of kubescheduler.config.k8s.io. */
export interface NodeAffinityArgs {
  /** Applies to all Pods of the profile. */
  readonly addedAffinity?: NodeAffinity;
}

/** A preferred term, read once. */
interface Preference {
  readonly weight: number;
  readonly matches: NodeMatcher;
}

/** Rejects nodes that the node selector or required node affinity does not match, and prefers nodes by affinity. */
export const nodeAffinity: MakePlugin<NodeAffinityArgs> = (_, { addedAffinity = {} }) => {
  const required = addedAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  const isEnforced = required && nodeSelectorMatcher(required);
  const added = readPreferences(addedAffinity.preferredDuringSchedulingIgnoredDuringExecution);
  return {
    name: NAME,
    events: [
      {
        resource: "Node",
        actions: ["Add", "UpdateNodeLabel"],
        hint({ spec = {} }, before, after) {
          const matches = requiredNodeAffinity(spec);
          if (isEnforced?.(after as Node) === false || !matches(after as Node)) return false;
          return before === undefined || !matches(before as Node);
        },
      },
    ],
    filter({ pod }): Filter | undefined {
      const { spec = {} } = pod;
      const selector = requiredOf(pod);
      if (selector === undefined && spec.nodeSelector === undefined && isEnforced === undefined) return undefined;
      const matches = requiredNodeAffinity(spec);
      const nodeNames = selector && namedNodes(selector);
      return {
        ...(nodeNames?.size === 0 && { rejection: CONFLICT }),
        ...(nodeNames !== undefined && { nodeNames }),
        check({ node }) {
          if (node === undefined || isEnforced?.(node) === false) return NOT_ENFORCED;
          return matches(node) ? undefined : OTHER_NODES;
        },
      };
    },
    score({ pod }) {
      const own = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
      if (own === undefined && added.length === 0) return undefined;
      const preferences = [...added, ...readPreferences(own)];
      return {
        score({ node }) {
          let sum = 0;
          for (const { weight, matches } of preferences) if (node && matches(node)) sum += weight;
          return sum;
        },
        normalize: (scores) => normalizeScores(scores),
      };
    },
  };
};

function requiredOf({ spec }: Pod): NodeSelector | undefined {
  return spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
}

/** The nodes that the terms name. Undefined if a term names none, or there are no terms. */
function namedNodes({ nodeSelectorTerms = [] }: NodeSelector): Set<string> | undefined {
  if (nodeSelectorTerms.length === 0) return undefined;
  const all = new Set<string>();
  for (const { matchFields = [] } of nodeSelectorTerms) {
    let names: Set<string> | undefined;
    for (const { key, operator, values } of matchFields) {
      if (key !== "metadata.name" || operator !== "In") continue;
      const listed = new Set(values);
      names = names === undefined ? listed : new Set([...names].filter((name) => listed.has(name)));
    }
    if (names === undefined) return undefined;
    for (const name of names) all.add(name);
  }
  return all;
}

function readPreferences(terms: readonly PreferredSchedulingTerm[] = []): Preference[] {
  return terms.flatMap(({ weight = 0, preference = {} }) => {
    if (weight === 0) return [];
    return [{ weight, matches: nodeSelectorMatcher({ nodeSelectorTerms: [preference] }) }];
  });
}
