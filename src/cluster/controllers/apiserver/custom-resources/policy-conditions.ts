import { type Approval, approvalOf } from "../../../../kinds/built-in/apiextensions/api-approval.ts";
import type { StoredDefinition } from "../../../../kinds/custom/definition-index.ts";
import type { CustomResourceDefinition } from "../../../../kinds/types/custom-resource-definition.ts";
import { conditionOf, type NewCondition, type StatusChange, saysSame } from "./definition-status.ts";

const APPROVAL = "KubernetesAPIApprovalPolicyConformant";
const NON_STRUCTURAL = "NonStructuralSchema";
const APPROVALS: Readonly<Record<Approval["state"], readonly [status: string, reason: string]>> = {
  invalid: ["False", "InvalidAnnotation"],
  missing: ["False", "MissingAnnotation"],
  approved: ["True", "ApprovedAnnotation"],
  bypassed: ["False", "UnapprovedAnnotation"],
};

/** Computes the condition for the api-approved annotation of a protected group. Undefined if nothing changes. */
export function judgeApproval(definition: CustomResourceDefinition): StatusChange | undefined {
  const approval = approvalOf(definition);
  if (!approval) return undefined;
  const [status, reason] = APPROVALS[approval.state];
  const condition = { type: APPROVAL, status, reason, message: approval.reason };
  return saysSame(conditionOf(definition, APPROVAL), condition) ? undefined : { conditions: [condition] };
}

/**
 * Computes the condition NonStructuralSchema of a definition, which may date from before schemas had to be structural.
 * Undefined if nothing changes. Upstream: `calculateCondition` of the non_structural_schema_condition_controller.
 */
export async function judgeSchemas({
  definition,
  violations,
}: Pick<StoredDefinition, "definition" | "violations">): Promise<StatusChange | undefined> {
  const old = conditionOf(definition, NON_STRUCTURAL);
  const message = await violations();
  if (message === "") return old ? { conditions: [], removed: [NON_STRUCTURAL] } : undefined;
  const condition: NewCondition = { type: NON_STRUCTURAL, status: "True", reason: "Violations", message };
  return saysSame(old, condition) ? undefined : { conditions: [condition] };
}
