import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import policy from "../../../access/authorization/bootstrap-policy.json" with { type: "json" };
import type { KubeObject } from "../../../base/api/object.ts";
import type { Binding, Role } from "../../../kinds/types/rbac.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import { clusterRoleAggregation } from "../manager/cluster-role-aggregation.ts";
import { TestCluster, until } from "../shared/controllers.suite.ts";
import { bootstrapRoles } from "./bootstrap-roles.ts";

const PLURALS = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"] as const;
const never = new AbortController().signal;

suite("bootstrap roles", () => {
  let cluster: TestCluster;
  beforeEach(() => {
    cluster = new TestCluster();
  });
  afterEach(() => cluster.stop());

  const change = async (plural: string, name: string, edit: (object: KubeObject) => void) => {
    const object = (await cluster.find(plural, name)) as KubeObject;
    edit(object);
    await cluster.client.update(cluster.resource(plural), object);
  };
  const verbsOf = async (name: string) =>
    ((await cluster.find("clusterroles", name)) as Role).rules?.flatMap(({ verbs = [] }) => verbs);

  test("creates the roles of kube-apiserver, and writes nothing if they exist", async () => {
    await bootstrapRoles(cluster, never);
    for (const plural of PLURALS) {
      for (const { metadata, ...expected } of policy[plural] as unknown as KubeObject[]) {
        const { namespace, name = "", labels } = metadata;
        const found = await cluster.find(plural, name, namespace);
        assert.ok(found, name);
        const { kind: _, apiVersion: __, metadata: stored, ...rest } = found;
        assert.deepEqual(rest, expected, name);
        assert.deepEqual(stored.labels, labels, name);
      }
    }
    const revision = await cluster.store.revision();
    await bootstrapRoles(cluster, never);
    assert.equal(await cluster.store.revision(), revision);
  });

  test("restores missing rules and subjects, and keeps additions", async () => {
    await bootstrapRoles(cluster, never);
    const extra = { verbs: ["list"], nonResourceURLs: ["/extra"] };
    await change("clusterroles", "system:discovery", (role) => {
      role.rules = [extra];
      role.metadata.labels = { mine: "yes" };
    });
    await change("clusterrolebindings", "system:basic-user", (binding) => {
      binding.subjects = [{ kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" }];
    });
    await cluster.delete("clusterroles", "cluster-admin");
    await bootstrapRoles(cluster, never);
    const discovery = (await cluster.find("clusterroles", "system:discovery")) as Role;
    assert.deepEqual(discovery.rules?.[0], extra);
    assert.equal(discovery.rules?.length, 12);
    assert.deepEqual(discovery.metadata.labels, { mine: "yes", "kubernetes.io/bootstrapping": "rbac-defaults" });
    const { subjects } = (await cluster.find("clusterrolebindings", "system:basic-user")) as Binding;
    assert.deepEqual(
      subjects?.map(({ name }) => name),
      ["u", "system:authenticated"],
    );
    assert.ok(await cluster.find("clusterroles", "cluster-admin"));
  });

  test("skips objects with autoupdate false, and recreates bindings with another roleRef", async () => {
    await bootstrapRoles(cluster, never);
    await change("clusterroles", "system:discovery", (role) => {
      role.rules = [];
      role.metadata.annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
    });
    await cluster.delete("clusterrolebindings", "system:discovery");
    await cluster.create("clusterrolebindings", "system:discovery", {
      content: { roleRef: { kind: "ClusterRole", name: "other" } },
    });
    await bootstrapRoles(cluster, never);
    assert.deepEqual((await verbsOf("system:discovery")) ?? [], []);
    const binding = (await cluster.find("clusterrolebindings", "system:discovery")) as Binding;
    assert.equal(binding.roleRef?.name, "system:discovery");
  });

  test("uses the groups of another API domain", async () => {
    const other = new TestCluster(new MemoryStore(), { apiDomain: "example.com" });
    await bootstrapRoles(other, never);
    const role = (await other.find("clusterroles", "system:basic-user")) as Role;
    const groups = role.rules?.flatMap(({ apiGroups = [] }) => apiGroups);
    assert.deepEqual(groups, ["authorization.example.com", "authentication.example.com"]);
    await other.stop();
  });

  test("sets the rules of roles with an aggregationRule", async () => {
    await bootstrapRoles(cluster, never);
    cluster.start(clusterRoleAggregation(cluster));
    const content = {
      labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" },
    };
    const created = await cluster.create("clusterroles", "more", {
      content: { rules: [{ verbs: ["read"], apiGroups: ["example.com"], resources: ["things"] }] },
    });
    await change("clusterroles", created.metadata.name ?? "", (role) => {
      role.metadata.labels = content.labels;
    });
    for (const name of ["view", "edit", "admin"]) {
      await until(async () => (await verbsOf(name))?.includes("read") === true);
    }
    const view = (await cluster.find("clusterroles", "view")) as Role;
    const managers = (view.metadata.managedFields as { manager: string }[]).map(({ manager }) => manager);
    assert.ok(managers.includes("clusterrole-aggregation-controller"));
    await cluster.delete("clusterroles", "more");
    await until(async () => (await verbsOf("admin"))?.includes("read") === false);
  });
});
