import { DEFAULT_PLUGINS } from "../../src/cluster/scheduler/default-plugins.ts";
import {
  INHERENT_PLUGINS,
  UPSTREAM_PLUGINS,
  type UpstreamPlugin,
} from "../../src/cluster/scheduler/upstream-plugins.ts";
import { code, head, table } from "./markdown.ts";

/** The text of docs/reference/scheduler.md. */
export function schedulerPage(): string {
  const own = new Map(DEFAULT_PLUGINS.map((plugin) => [plugin.name, plugin]));
  const isOwn = ({ name }: UpstreamPlugin) => own.has(name) || INHERENT_PLUGINS.has(name);
  const weight = ({ name }: UpstreamPlugin) => String(own.get(name)?.weight ?? "");
  const names = ({ name }: UpstreamPlugin) => name.split(", ").map(code).join(", ");
  return [
    head(
      "Scheduler",
      "`binnacle serve --scheduler` gives every Pod a node, as kube-scheduler 1.37 does: the same nodes are possible, with the same scores, messages, conditions and Events.",
    ),
    "It acts as `system:kube-scheduler`, within the ClusterRole of that name. It works while the server holds the Lease `kube-scheduler` in kube-system, with which the real program elects its leader too, so only one of them works at a time. Without `--scheduler`, Pods stay Pending unless they name their node.",
    "",
    "`npm run fuzz scheduling` compares it with the real program. Three differences remain: of several nodes with the highest score it takes the first, and the real program any; the real program may reuse scores for Pods of the same shape within half a second; and its ImageLocality counts the nodes of an image as of the last change of each node.",
    "",
    "## Plugins",
    "",
    "In this order. The first plugin that rejects a node gives the reason. Scores are multiplied by the weight.",
    "",
    table(
      ["plugin", "what it does", "weight"],
      UPSTREAM_PLUGINS.filter(isOwn).map((plugin) => [names(plugin), plugin.does, weight(plugin)]),
    ),
    "## Not built in",
    "",
    table(
      ["plugin", "what it does", "why"],
      UPSTREAM_PLUGINS.filter((plugin) => !isOwn(plugin)).map((plugin) => [
        names(plugin),
        plugin.does,
        plugin.absence ?? "not built yet",
      ]),
    ),
    "Extenders (webhooks of the scheduler) are not called, and a configuration with some is rejected.",
    "",
    "## Profiles",
    "",
    "`--scheduler-config FILE` reads a KubeSchedulerConfiguration. Profiles, plugin sets, plugin arguments, `percentageOfNodesToScore` and the backoff have the effect that they have in kube-scheduler. Settings of the program itself, such as `leaderElection`, have none.",
    "",
    "```yaml",
    "apiVersion: kubescheduler.config.k8s.io/v1",
    "kind: KubeSchedulerConfiguration",
    "profiles:",
    "  - schedulerName: default-scheduler",
    "  - schedulerName: packing",
    "    plugins:",
    "      score:",
    "        disabled: [{ name: NodeResourcesBalancedAllocation }]",
    "    pluginConfig:",
    "      - name: NodeResourcesFit",
    "        args: { scoringStrategy: { type: MostAllocated } }",
    "```",
    "",
    "The functions `preFilter` and `filter` of a plugin are enabled together, and so are `preScore` and `score`.",
    "",
  ].join("\n");
}
