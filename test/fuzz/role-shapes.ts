import type { PolicyRule } from "../../src/kinds/types/rbac.ts";

/** A role, and where it counts. */
export interface RoleShape {
  readonly rules: readonly PolicyRule[];
  /** Bound by a ClusterRoleBinding, by a RoleBinding to a ClusterRole, or by a RoleBinding to a Role. */
  readonly by: "cluster" | "clusterInNamespace" | "namespace";
  /** The binding names a role that does not exist. */
  readonly isDangling?: boolean;
}

const all = ["*"];
const core = [""];

/** Roles of every shape that rules can have. */
export const SHAPES: readonly RoleShape[] = [
  { by: "cluster", rules: [{ verbs: all, apiGroups: all, resources: all }] },
  { by: "cluster", rules: [{ verbs: all, nonResourceURLs: all }] },
  { by: "cluster", rules: [{ verbs: ["get"], apiGroups: core, resources: ["pods"] }] },
  { by: "cluster", rules: [{ verbs: ["get", "list", "watch"], apiGroups: core, resources: ["pods", "pods/log"] }] },
  { by: "cluster", rules: [{ verbs: ["get", "update"], apiGroups: all, resources: ["*/scale"] }] },
  { by: "cluster", rules: [{ verbs: all, apiGroups: core, resources: ["pods/*"] }] },
  { by: "cluster", rules: [{ verbs: ["get"], apiGroups: ["apps"], resources: all }] },
  { by: "cluster", rules: [{ verbs: all, apiGroups: core, resources: ["secrets"], resourceNames: ["a", "b"] }] },
  { by: "cluster", rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/healthz/*", "/met*"] }] },
  { by: "cluster", rules: [{ verbs: ["get", "post"], nonResourceURLs: ["/api**", "/*/x"] }] },
  { by: "cluster", rules: [] },
  { by: "cluster", rules: [], isDangling: true },
  {
    by: "clusterInNamespace",
    rules: [
      { verbs: all, apiGroups: all, resources: all },
      { verbs: all, nonResourceURLs: all },
    ],
  },
  {
    by: "clusterInNamespace",
    rules: [{ verbs: ["list"], apiGroups: core, resources: ["pods", "namespaces", "nodes"] }],
  },
  { by: "clusterInNamespace", rules: [], isDangling: true },
  { by: "namespace", rules: [{ verbs: all, apiGroups: all, resources: all }] },
  { by: "namespace", rules: [{ verbs: ["create", "delete"], apiGroups: core, resources: ["pods", "pods/eviction"] }] },
  { by: "namespace", rules: [{ verbs: ["patch", "update"], apiGroups: ["apps"], resources: ["deployments/scale"] }] },
  {
    by: "namespace",
    rules: [
      { verbs: ["get"], apiGroups: core, resources: ["configmaps"], resourceNames: ["a"] },
      { verbs: ["list", "watch"], apiGroups: core, resources: ["configmaps"], resourceNames: ["b"] },
      { verbs: ["deletecollection", "create"], apiGroups: core, resources: ["configmaps"], resourceNames: ["a", ""] },
    ],
  },
  { by: "namespace", rules: [{ verbs: ["get"], apiGroups: core, resources: ["*/status", "pods"] }] },
  { by: "namespace", rules: [], isDangling: true },
  { by: "namespace", rules: [{ verbs: ["Get", "escalate", "bind"], apiGroups: all, resources: ["roles", "PODS"] }] },
];
