import type { UserInfo } from "../../base/api/user-info.ts";

/** User of the API server's requests to itself. */
export const API_SERVER: UserInfo = { name: "system:apiserver", groups: ["system:authenticated", "system:masters"] };

/** User of kube-controller-manager itself. Its controllers act as service accounts. */
export const CONTROLLER_MANAGER: UserInfo = {
  name: "system:kube-controller-manager",
  groups: ["system:authenticated"],
};

/** User of kube-scheduler. */
export const SCHEDULER: UserInfo = { name: "system:kube-scheduler", groups: ["system:authenticated"] };

/** User of a client that acts as a service account. */
export function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

/** User of the kubelet of a node. */
export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] };
}
