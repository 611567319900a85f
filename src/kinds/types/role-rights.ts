import type { Authorizer } from "../../base/api/attributes.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { PolicyRule } from "./rbac.ts";

/** Finds the rules a user holds: users may only grant permissions they have. */
export interface RoleRights {
  readonly authorizer: Authorizer;
  /** All rules of a user in a namespace, and the names of bound roles that do not exist. */
  heldRules(user: UserInfo, namespace: string): Promise<{ rules: readonly PolicyRule[]; missing: readonly string[] }>;
  /** Rules of the role that a binding refers to. Undefined if the role does not exist. */
  rulesOfRole(
    roleRef: { readonly kind: string; readonly name: string },
    namespace: string,
  ): Promise<readonly PolicyRule[] | undefined>;
}
