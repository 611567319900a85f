import type { Column } from "../../../base/api/columns.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ResourceDefinition, ResourceRules } from "../../../resources/model/definition.ts";
import { AGE, type Cell, column, NAME, readObjects, readText, wide } from "../cells.ts";
import { defineKinds } from "../row.ts";
import { bindingHooks, roleHooks } from "./access-rules.ts";

function subjects(kind: string, print: (subject: JsonObject) => string): Cell {
  return (binding) =>
    readObjects(binding, ".subjects")
      .filter((subject) => subject.kind === kind)
      .map(print)
      .join(", ");
}

const subjectName = (subject: JsonObject): string => readText(subject, ".name");

const bindingColumns: readonly Column[] = [
  NAME,
  column("Role", "string", (binding) => `${readText(binding, ".roleRef.kind")}/${readText(binding, ".roleRef.name")}`),
  AGE,
  wide("Users", "string", subjects("User", subjectName)),
  wide("Groups", "string", subjects("Group", subjectName)),
  wide(
    "ServiceAccounts",
    "string",
    subjects("ServiceAccount", (subject) => `${readText(subject, ".namespace")}/${subjectName(subject)}`),
  ),
];

const rules: ResourceRules = { nameRule: "pathSegment", createsOnUpdate: true };

/** The kinds of rbac.authorization.k8s.io: Role, RoleBinding, ClusterRole and ClusterRoleBinding. */
export const rbacKinds: ResourceDefinition[] = defineKinds(
  { group: "rbac.authorization.k8s.io", schemaPackage: "io.k8s.api.rbac" },
  [
    {
      kind: "ClusterRoleBinding",
      plural: "clusterrolebindings",
      scope: "Cluster",
      versions: ["v1"],
      columns: bindingColumns,
      rules,
      actions: { reserve: "clusterRoleBinding" },
      hooks: bindingHooks("ClusterRoleBinding"),
    },
    {
      kind: "ClusterRole",
      plural: "clusterroles",
      scope: "Cluster",
      versions: ["v1"],
      rules,
      actions: { reserve: "clusterRole" },
      hooks: roleHooks("ClusterRole"),
    },
    {
      kind: "RoleBinding",
      plural: "rolebindings",
      versions: ["v1"],
      columns: bindingColumns,
      rules,
      actions: { reserve: "roleBinding" },
      hooks: bindingHooks("RoleBinding"),
    },
    { kind: "Role", plural: "roles", versions: ["v1"], rules, actions: { reserve: "role" }, hooks: roleHooks("Role") },
  ],
);
