import { notFound } from "../../base/api/api-error.ts";
import type { Binding, PolicyRule } from "../../kinds/types/rbac.ts";
import { BindingsBySubject, knownBinding } from "./bindings-by-subject.ts";
import { CompiledRule } from "./policy-rules.ts";
import type { RoleIndex } from "./role-index.ts";

/** Roles by `name` or `namespace/name`, and their bindings. Bindings without a namespace are cluster role bindings. */
export interface RolesInMemory {
  readonly clusterRoles?: Readonly<Record<string, readonly PolicyRule[]>>;
  readonly roles?: Readonly<Record<string, readonly PolicyRule[]>>;
  readonly bindings: readonly Binding[];
}

/** A RoleIndex without a store. */
export function rolesInMemory({
  clusterRoles = {},
  roles = {},
  bindings,
}: RolesInMemory): Pick<RoleIndex, "grants" | "rulesOf"> {
  const index = new BindingsBySubject();
  for (const one of bindings) {
    const kind = one.metadata.namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
    index.change(undefined, knownBinding(kind, one));
  }
  const compile = (all: Readonly<Record<string, readonly PolicyRule[]>>) =>
    new Map(Object.entries(all).map(([key, rules]) => [key, rules.map((rule) => new CompiledRule(rule))]));
  const known = { ClusterRole: compile(clusterRoles), Role: compile(roles) };
  const self: Pick<RoleIndex, "grants" | "rulesOf"> = {
    rulesOf: ({ kind, name }, namespace) =>
      (kind === "Role" ? known.Role.get(`${namespace}/${name}`) : known.ClusterRole.get(name)) ??
      notFound({ group: "rbac.authorization.k8s.io", resource: kind.toLowerCase() }, name),
    *grants(user, namespace) {
      for (const scope of namespace === "" ? [""] : ["", namespace]) {
        for (const list of index.of(user, scope)) {
          for (const binding of list) yield { binding, rules: self.rulesOf(binding.roleRef, scope) };
        }
      }
    },
  };
  return self;
}
