import type { TokenIssuer } from "../api/token-issuer.ts";
import type { Actions } from "../resources/model/actions.ts";
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
import { checkBinding, checkRole, type RoleRights } from "./role-escalation.ts";
import { reserveForService } from "./service-reservation.ts";
import { tokenRequest } from "./token-request.ts";

/**
 * What built-in kinds do besides being stored, by the names that their rows have for it. Objects, the clock and chance
 * come with each call; `probe` is what an action needs of the network, `issuer` signs tokens,
 * `rights` tells what writers of roles may give away.
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
