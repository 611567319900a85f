import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import type { Actions, ComputeAction } from "../../../resources/model/actions.ts";
import type { RoleRights } from "../../types/role-rights.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from "./access-reviews.ts";
import { componentStatuses, type ProbeHealth } from "./component-status.ts";
import { checkClaimAdminAccess, checkTemplateAdminAccess } from "./device-admin-access.ts";
import { selfSubjectReview, tokenReview } from "./identity-reviews.ts";
import { bindPod } from "./pod-binding.ts";
import { evictPod } from "./pod-eviction.ts";
import { checkBinding, checkRole } from "./role-escalation.ts";
import { reserveForService } from "./service-reservation.ts";
import { tokenRequest } from "./token-request.ts";

/** Computes the kinds of metrics.k8s.io. */
export interface MetricsActions {
  readonly nodeMetrics: ComputeAction;
  readonly podMetrics: ComputeAction;
}

const NO_METRICS: MetricsActions = { nodeMetrics: async () => [], podMetrics: async () => [] };

/**
 * Actions of built-in kinds beyond storage, by their names in the rows. Objects, the clock and randomness come with
 * each call. `probe` is the network access of ComponentStatus, `issuer` signs tokens, and `rights` returns which
 * permissions writers of roles may grant. `metrics` computes the usage of resources.
 */
export function builtInActions(
  probe: ProbeHealth,
  issuer: TokenIssuer,
  rights: () => RoleRights,
  metrics: MetricsActions = NO_METRICS,
): Actions {
  return {
    create: {
      binding: bindPod,
      eviction: evictPod,
      localSubjectAccessReview,
      selfSubjectAccessReview,
      selfSubjectReview,
      selfSubjectRulesReview,
      subjectAccessReview,
      tokenRequest: tokenRequest(issuer),
      tokenReview,
    },
    reserve: {
      clusterRole: checkRole("clusterroles", rights),
      clusterRoleBinding: checkBinding("clusterrolebindings", rights),
      role: checkRole("roles", rights),
      roleBinding: checkBinding("rolebindings", rights),
      claimAdminAccess: checkClaimAdminAccess,
      serviceAllocation: reserveForService,
      templateAdminAccess: checkTemplateAdminAccess,
    },
    compute: { componentStatuses: componentStatuses(probe), ...metrics },
  };
}
