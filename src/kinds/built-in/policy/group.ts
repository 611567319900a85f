import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, integer, NAME, optionalText } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { disruptionBudgetHooks } from "./disruption-budget.ts";

/** The kinds of policy: PodDisruptionBudget. */
export const policyKinds: ResourceDefinition[] = defineKinds({ group: "policy", schemaPackage: "io.k8s.api.policy" }, [
  {
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: [
      NAME,
      column("Min Available", "string", optionalText(".spec.minAvailable", "N/A")),
      column("Max Unavailable", "string", optionalText(".spec.maxUnavailable", "N/A")),
      column("Allowed Disruptions", "integer", integer(".status.disruptionsAllowed")),
      AGE,
    ],
    rules: {
      nameRule: "pathSegment",
      generation: "counted",
      requiresResourceVersion: true,
      freeFinalizers: true,
    },
    hooks: disruptionBudgetHooks,
  },
]);
