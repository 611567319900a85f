import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import type { Actions } from "../../../resources/model/actions.ts";
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

/**
 * Actions of built-in kinds beyond storage, by their names in the rows. Objects, the clock and randomness come with
 * each call. `probe` is the network access of ComponentStatus, `issuer` signs tokens, and `rights` returns which
 * permissions writers of roles may grant.
 */
export function builtInActions(probe: ProbeHealth, issuer: TokenIssuer, rights: () => RoleRights): Actions {
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
    compute: { componentStatuses: componentStatuses(probe) },
  };
}
