import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { LabelSelector } from "./meta.ts";

/** PolicyRule: verbs on resources, or on nonResourceURLs. */
export interface PolicyRule extends JsonObject {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** Role or ClusterRole. Only a ClusterRole has an aggregationRule. */
export interface Role extends KubeObject {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

/** Subject: a User, a Group or a ServiceAccount that a binding grants a role to. */
export interface Subject extends JsonObject {
  kind?: string;
  apiGroup?: string;
  name?: string;
  namespace?: string;
}

/** RoleRef: the Role or ClusterRole of a binding. */
export interface RoleRef extends JsonObject {
  apiGroup?: string;
  kind?: string;
  name?: string;
}

/** RoleBinding or ClusterRoleBinding. */
export interface Binding extends KubeObject {
  subjects?: Subject[] | null;
  roleRef?: RoleRef;
}
