import type { Node, Taint } from "../../../kinds/types/node.ts";
import type { Toleration } from "../../../kinds/types/pod.ts";
import { tolerates, toleratesTaints } from "../../controllers/shared/taints.ts";
import { type MakePlugin, normalizeScores, unresolvable } from "../plugin.ts";

const NAME = "TaintToleration";
const UNTOLERATED = unresolvable(NAME, "node(s) had untolerated taint(s)");
const REJECTING = ["NoSchedule", "NoExecute"];
const PREFERRED = "PreferNoSchedule";

/** Rejects nodes with taints that a Pod does not tolerate, and prefers those with few taints PreferNoSchedule. */
export const taintToleration: MakePlugin = () => ({
  name: NAME,
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeTaint"],
      hint({ spec }, before, after) {
        const isTolerated = (node: object | undefined) => allows(spec?.tolerations ?? [], taintsOf(node));
        return (before === undefined || !isTolerated(before)) && isTolerated(after);
      },
    },
    { resource: "TargetPod", actions: ["UpdatePodToleration"] },
  ],
  filter({ pod }) {
    const tolerations = pod.spec?.tolerations ?? [];
    return {
      check({ node }) {
        const taints = taintsOf(node);
        return taints.length === 0 || allows(tolerations, taints) ? undefined : UNTOLERATED;
      },
    };
  },
  score({ pod }) {
    const tolerations = (pod.spec?.tolerations ?? []).filter(
      ({ effect = "" }) => effect === "" || effect === PREFERRED,
    );
    return {
      score({ node }) {
        let count = 0;
        for (const taint of taintsOf(node)) {
          if (taint.effect !== PREFERRED) continue;
          if (!tolerations.some((toleration) => tolerates(toleration, taint))) count += 1;
        }
        return count;
      },
      normalize: (scores) => normalizeScores(scores, true),
    };
  },
});

const NO_TAINTS: readonly Taint[] = [];
const taintsOf = (node: object | undefined) => (node as Node | undefined)?.spec?.taints ?? NO_TAINTS;
const allows = (tolerations: readonly Toleration[], taints: readonly Taint[]) =>
  toleratesTaints(tolerations, taints, REJECTING);
