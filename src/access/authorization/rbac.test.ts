import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attributes, nonResourceAttributes, resourceAttributes } from "../../base/api/attributes.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Binding, PolicyRule, RoleRef, Subject } from "../../kinds/types/rbac.ts";
import { BindingsBySubject, type KnownBinding, knownBinding } from "./bindings-by-subject.ts";
import { AuthorizerChain } from "./chain.ts";
import { CompiledRule, questionOf } from "./policy-rules.ts";
import { rolesInMemory } from "./rbac.suite.ts";
import { RbacAuthorizer } from "./rbac.ts";

const alice: UserInfo = { name: "alice", groups: ["dev", "system:authenticated"] };
const wanted = (text: string, more: Partial<Attributes> = {}): Attributes => {
  const [verb = "", resource = "", subresource = ""] = text.split(/[ /]/);
  return resourceAttributes(alice, { verb, apiGroup: "", resource, subresource, ...more });
};

test("a rule allows its verbs, groups, resources and names", () => {
  const rows: [rule: PolicyRule, attributes: Attributes, isAllowed: boolean][] = [
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }, wanted("get pods"), true],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }, wanted("list pods"), false],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }, wanted("get pods/log"), false],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods/*"] }, wanted("get pods/log"), false],
    [{ verbs: ["get"], apiGroups: [""], resources: ["*/log"] }, wanted("get pods/log"), true],
    [{ verbs: ["get"], apiGroups: [""], resources: ["*/log"] }, wanted("get pods"), false],
    [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, wanted("get pods/log", { apiGroup: "x" }), true],
    [{ verbs: ["get"], apiGroups: ["apps"], resources: ["*"] }, wanted("get pods"), false],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: [] }, wanted("get pods"), true],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }, wanted("get pods"), false],
    [
      { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
      wanted("get pods", { name: "a" }),
      true,
    ],
    [{ verbs: ["get"], nonResourceURLs: ["/healthz/*"] }, nonResourceAttributes(alice, "get", "/healthz/"), true],
    [{ verbs: ["get"], nonResourceURLs: ["/healthz/*"] }, nonResourceAttributes(alice, "get", "/healthz"), false],
    [{ verbs: ["get"], nonResourceURLs: ["/a**"] }, nonResourceAttributes(alice, "get", "/abc"), true],
    [{ verbs: ["get"], nonResourceURLs: ["*"] }, nonResourceAttributes(alice, "get", "/x"), true],
    [{ verbs: ["get"], nonResourceURLs: ["/a*b"] }, nonResourceAttributes(alice, "get", "/axb"), false],
    [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, nonResourceAttributes(alice, "get", "/x"), false],
  ];
  for (const [rule, attributes, isAllowed] of rows) {
    const text = JSON.stringify([rule, attributes]);
    assert.equal(new CompiledRule(rule).allows(questionOf(attributes)), isAllowed, text);
  }
});

const ref = (kind: string, name: string): RoleRef => ({ kind, name });
const binding = (name: string, roleRef: RoleRef, subjects: Subject[], namespace?: string): Binding => ({
  kind: "",
  apiVersion: "",
  metadata: { name, ...(namespace && { namespace }) },
  roleRef,
  subjects,
});
const USER: Subject = { kind: "User", name: "alice" };
const GET_PODS: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

test("the reason names the binding, the role and the first subject that applies", () => {
  const rbac = new RbacAuthorizer(
    rolesInMemory({
      clusterRoles: { reader: [GET_PODS] },
      roles: { "ns/own": [{ verbs: ["list"], apiGroups: [""], resources: ["pods"] }] },
      bindings: [
        binding("cluster", ref("ClusterRole", "reader"), [{ kind: "Group", name: "dev" }, USER]),
        binding("local", ref("Role", "own"), [{ kind: "ServiceAccount", name: "alice" }, USER], "ns"),
        binding("robots", ref("Role", "own"), [{ kind: "ServiceAccount", name: "bot" }], "ns"),
      ],
    }),
  );
  assert.deepEqual(rbac.decide(wanted("get pods")), {
    decision: "allow",
    reason: 'RBAC: allowed by ClusterRoleBinding "cluster" of ClusterRole "reader" to Group "dev"',
  });
  assert.deepEqual(rbac.decide(wanted("list pods", { namespace: "ns" })), {
    decision: "allow",
    reason: 'RBAC: allowed by RoleBinding "local/ns" of Role "own" to User "alice"',
  });
  assert.deepEqual(rbac.decide(wanted("list pods", { namespace: "other" })), { decision: "noOpinion" });
  assert.deepEqual(rbac.decide(wanted("list pods")), { decision: "noOpinion" });
  const bot = { name: "system:serviceaccount:ns:bot", groups: [] };
  assert.deepEqual(rbac.decide({ ...wanted("list pods", { namespace: "ns" }), user: bot }), {
    decision: "allow",
    reason: 'RBAC: allowed by RoleBinding "robots/ns" of Role "own" to ServiceAccount "bot/ns"',
  });
});

test("reports a missing role, and still applies the others", async () => {
  const index = rolesInMemory({
    clusterRoles: { reader: [GET_PODS, { verbs: ["get"], nonResourceURLs: ["/x"] }] },
    bindings: [
      binding("a", ref("ClusterRole", "none"), [USER]),
      binding("b", ref("ClusterRole", "reader"), [USER]),
      binding("c", ref("Role", "gone"), [USER, USER], "ns"),
    ],
  });
  const rbac = new RbacAuthorizer(index);
  const missing = 'clusterrole.rbac.authorization.k8s.io "none" not found';
  assert.equal(rbac.decide(wanted("get pods")).decision, "allow");
  assert.deepEqual(rbac.decide(wanted("list pods")), { decision: "noOpinion", reason: `RBAC: ${missing}` });
  const both = `[${missing}, role.rbac.authorization.k8s.io "gone" not found]`;
  assert.equal(rbac.decide(wanted("list pods", { namespace: "ns" })).reason, `RBAC: ${both}`);
  assert.deepEqual(await rbac.rulesFor(alice, "ns"), {
    resourceRules: [GET_PODS],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
    incomplete: false,
    evaluationError: both,
  });
  assert.equal(rbac.rulesOfRole({ kind: "ClusterRole", name: "none" }, ""), undefined);
});

test("forgets changed and deleted bindings", () => {
  const index = new BindingsBySubject();
  const known = (name: string, subjects: Subject[]): KnownBinding =>
    knownBinding("ClusterRoleBinding", binding(name, ref("ClusterRole", "r"), subjects));
  const names = () => [...index.of(alice, "")].map((list) => list.map(({ name }) => name));
  const [a, b, c] = [known("a", [USER, USER]), known("b", [USER]), known("c", [{ kind: "Group", name: "dev" }])];
  for (const one of [c, b, a]) index.change(undefined, one);
  assert.deepEqual(names(), [["a", "b"], ["c"]]);
  const moved = known("a", [{ kind: "Group", name: "dev" }]);
  index.change(a, moved);
  assert.deepEqual(names(), [["b"], ["a", "c"]]);
  for (const one of [b, c, moved]) index.change(one, undefined);
  assert.deepEqual(names(), []);
});

test("runs authorizers in order, but not for members of system:masters", async () => {
  const says = (decision: "allow" | "deny" | "noOpinion", reason?: string, error?: string) => ({
    type: "Test",
    name: decision,
    authorizer: {
      authorize: async () => ({ decision, ...(reason && { reason }), ...(error && { error }) }),
      rulesFor: async () => ({ resourceRules: [], nonResourceRules: [], incomplete: decision === "deny" }),
    },
  });
  const chain = new AuthorizerChain([says("noOpinion", "one"), says("noOpinion", "two", "broken")]);
  assert.deepEqual(await chain.authorize(wanted("get pods")), {
    decision: "noOpinion",
    reason: "noOpinion: one\nnoOpinion: two",
    error: "broken",
  });
  const denying = new AuthorizerChain([says("noOpinion"), says("deny", "no"), says("allow")]);
  assert.deepEqual(await denying.authorize(wanted("get pods")), { decision: "deny", reason: "no" });
  const master = { name: "m", groups: ["system:masters"] };
  assert.deepEqual(await denying.authorize({ ...wanted("get pods"), user: master }), { decision: "allow" });
  assert.equal((await denying.rulesFor(alice, "ns")).incomplete, true);
});
