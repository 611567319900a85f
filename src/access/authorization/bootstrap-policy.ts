import type { PolicyRule } from "../../kinds/types/rbac.ts";
import policy from "./bootstrap-policy.json" with { type: "json" };

/** Roles and bindings of every cluster, as kube-apiserver creates them. */
export const bootstrapPolicy = policy;

/** Rules of a bootstrap ClusterRole. Throws if no bootstrap role has this name. */
export function bootstrapRules(name: string): readonly PolicyRule[] {
  const role = policy.clusterroles.find(({ metadata }) => metadata.name === name);
  if (role === undefined) throw new Error(`no bootstrap role is called ${name}`);
  return (role.rules ?? []) as readonly PolicyRule[];
}
