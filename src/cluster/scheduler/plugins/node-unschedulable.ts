import type { Node, Taint } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { tolerates } from "../../controllers/shared/taints.ts";
import { type MakePlugin, unresolvable } from "../plugin.ts";

const NAME = "NodeUnschedulable";
const CORDONED = unresolvable(NAME, "node(s) were unschedulable");
const TAINT: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Rejects cordoned nodes. */
export const nodeUnschedulable: MakePlugin = () => ({
  name: NAME,
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeTaint"],
      hint: (_, before, after) => (before === undefined || isCordoned(before)) && !isCordoned(after),
    },
    {
      resource: "TargetPod",
      actions: ["UpdatePodToleration"],
      hint: (_, __, after) => toleratesCordon(after as Pod),
    },
  ],
  filter({ pod }) {
    if (toleratesCordon(pod)) return undefined;
    return { check: ({ node }) => (isCordoned(node) ? CORDONED : undefined) };
  },
});

function isCordoned(node: object | undefined): boolean {
  return (node as Node | undefined)?.spec?.unschedulable === true;
}

function toleratesCordon({ spec }: Pod): boolean {
  return (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, TAINT));
}
