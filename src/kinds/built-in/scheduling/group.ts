import type { Column } from "../../../base/api/columns.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, boolean, column, findCondition, integer, NAME, read, readText, text } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { priorityClassHooks } from "./priority-class.ts";
import { compositePodGroupHooks, podGroupHooks, workloadHooks } from "./workload.ts";

const policy: Column = column("Policy", "string", (group) => {
  return read(group, ".spec.schedulingPolicy.gang") === undefined ? "Basic" : "Gang";
});

/** The status of a pod group; `scheduled` is the condition that schedulers of that release set. */
function printStatus(group: KubeObject, scheduled: string): string {
  const target = findCondition(group, "DisruptionTarget");
  if (target !== undefined) return readText(target, ".reason");
  const condition = findCondition(group, scheduled);
  if (condition === undefined) return "Pending";
  return condition.status === "True" ? "Scheduled" : "Unschedulable";
}

function podGroupColumns(workload: string, scheduled: string): Column[] {
  return [
    NAME,
    policy,
    column("Workload", "string", text(workload, "<none>")),
    column("Status", "string", (group) => printStatus(group, scheduled)),
    AGE,
  ];
}

const WORKLOAD = ".spec.workloadRef.workloadName";

/** The kinds of scheduling.k8s.io: PriorityClass, Workload, PodGroup and CompositePodGroup. */
export const schedulingKinds: ResourceDefinition[] = defineKinds(
  { group: "scheduling.k8s.io", schemaPackage: "io.k8s.api.scheduling" },
  [
    {
      kind: "PriorityClass",
      defaults: { preemptionPolicy: "PreemptLowerPriority" },
      plural: "priorityclasses",
      shortNames: ["pc"],
      scope: "Cluster",
      versions: ["v1"],
      columns: [
        NAME,
        column("Value", "integer", integer(".value")),
        column("Global-Default", "boolean", boolean(".globalDefault")),
        AGE,
        column("PreemptionPolicy", "string", text(".preemptionPolicy", "<unset>")),
      ],
      rules: { generation: "fixed" },
      hooks: priorityClassHooks,
    },
    {
      kind: "CompositePodGroup",
      plural: "compositepodgroups",
      versions: ["v1alpha3"],
      subresources: { status: STATUS },
      columns: [NAME, policy, column("Workload", "string", text(WORKLOAD, "<none>")), AGE],
      rules: { requiresResourceVersion: true, statusKeepsMetadata: true },
      hooks: compositePodGroupHooks,
    },
    {
      kind: "PodGroup",
      plural: "podgroups",
      versions: [
        "v1beta1",
        "v1alpha3",
        {
          name: "v1alpha2",
          requiresResourceVersion: false,
          columns: podGroupColumns(".spec.podGroupTemplateRef.workload.workloadName", "PodGroupScheduled"),
        },
      ],
      subresources: { status: STATUS },
      columns: podGroupColumns(WORKLOAD, "PodGroupInitiallyScheduled"),
      rules: { requiresResourceVersion: true, statusKeepsMetadata: true },
      hooks: podGroupHooks,
    },
    {
      kind: "Workload",
      plural: "workloads",
      versions: [
        "v1beta1",
        "v1alpha3",
        { name: "v1alpha2", requiresResourceVersion: false },
        { name: "v1alpha1", requiresResourceVersion: false, noShardSelector: true },
      ],
      columns: [NAME, AGE],
      rules: { requiresResourceVersion: true },
      hooks: workloadHooks,
    },
  ],
);
