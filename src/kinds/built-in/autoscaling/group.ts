import type { Column } from "../../../base/api/columns.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, type Cell, column, integer, NAME, optionalText, readText } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { autoscalerHooks } from "./autoscaler.ts";
import { printTargetsV1, printTargetsV2 } from "./metric-cells.ts";

function columns(targets: Cell): Column[] {
  return [
    NAME,
    column("Reference", "string", (autoscaler) => {
      return `${readText(autoscaler, ".spec.scaleTargetRef.kind")}/${readText(autoscaler, ".spec.scaleTargetRef.name")}`;
    }),
    column("Targets", "string", targets),
    column("MinPods", "string", optionalText(".spec.minReplicas", "<unset>")),
    column("MaxPods", "string", integer(".spec.maxReplicas")),
    column("Replicas", "string", integer(".status.currentReplicas")),
    AGE,
  ];
}

/** The kinds of autoscaling: HorizontalPodAutoscaler. */
export const autoscalingKinds: ResourceDefinition[] = defineKinds(
  { group: "autoscaling", schemaPackage: "io.k8s.api.autoscaling" },
  [
    {
      kind: "HorizontalPodAutoscaler",
      plural: "horizontalpodautoscalers",
      shortNames: ["hpa"],
      categories: ["all"],
      versions: [
        { name: "v2", columns: columns(printTargetsV2) },
        { name: "v1", columns: columns(printTargetsV1) },
      ],
      subresources: { status: STATUS },
      rules: { generation: "counted" },
      defaults: { "spec.minReplicas": 1 },
      hooks: autoscalerHooks,
    },
  ],
);
