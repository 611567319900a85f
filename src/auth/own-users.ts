import type { UserInfo } from "../api/user-info.ts";

/** Who kube-apiserver is when it asks itself. */
export const API_SERVER: UserInfo = { name: "system:apiserver", groups: ["system:authenticated", "system:masters"] };

/** Who a program is that acts as a service account. */
export function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}
