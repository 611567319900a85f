import { type Approval, approvalOf } from "../kinds/apiextensions/api-approval.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import { conditionOf, type NewCondition, type StatusChange, saysSame } from "./definition-status.ts";

const APPROVAL = "KubernetesAPIApprovalPolicyConformant";
const NON_STRUCTURAL = "NonStructuralSchema";
const APPROVALS: Readonly<Record<Approval["state"], readonly [status: string, reason: string]>> = {
  invalid: ["False", "InvalidAnnotation"],
  missing: ["False", "MissingAnnotation"],
  approved: ["True", "ApprovedAnnotation"],
  bypassed: ["False", "UnapprovedAnnotation"],
};

/** What the annotation of a protected group says; undefined when nothing changes. */
export function judgeApproval(definition: CustomResourceDefinition): StatusChange | undefined {
  const approval = approvalOf(definition);
  if (!approval) return undefined;
  const [status, reason] = APPROVALS[approval.state];
  const condition = { type: APPROVAL, status, reason, message: approval.reason };
  return saysSame(conditionOf(definition, APPROVAL), condition) ? undefined : { conditions: [condition] };
}

/** A definition, which may be without schemas, and what is wrong with these. */
interface Judged {
  readonly definition: CustomResourceDefinition;
  readonly violations: string;
}

/**
 * Whether a definition that was stored before schemas had to be structural breaks the rules; undefined when nothing changes.
 * Upstream: `calculateCondition` of the non_structural_schema_condition_controller.
 */
export function judgeSchemas({ definition, violations }: Judged): StatusChange | undefined {
  const old = conditionOf(definition, NON_STRUCTURAL);
  const message = violations;
  if (message === "") return old ? { conditions: [], removed: [NON_STRUCTURAL] } : undefined;
  const condition: NewCondition = { type: NON_STRUCTURAL, status: "True", reason: "Violations", message };
  return saysSame(old, condition) ? undefined : { conditions: [condition] };
}
