import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes } from "../../../base/api/attributes.ts";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { Draft } from "../../../resources/model/draft.ts";
import type { PolicyRule } from "../../types/rbac.ts";
import type { RoleRights } from "../../types/role-rights.ts";
import { checkBinding, checkRole } from "./role-escalation.ts";

const GROUP = "rbac.authorization.k8s.io";
const alice: UserInfo = { name: "alice", groups: ["dev", "all"] };
const GET: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

interface Situation {
  readonly held?: readonly PolicyRule[];
  readonly missing?: readonly string[];
  readonly may?: string;
  readonly role?: readonly PolicyRule[];
  readonly asked?: Attributes[];
}

function rightsIn({ held = [], missing = [], may, role, asked }: Situation): () => RoleRights {
  return () => ({
    authorizer: {
      async authorize(attributes) {
        asked?.push(attributes);
        return { decision: attributes.verb === may ? "allow" : "noOpinion" };
      },
    },
    heldRules: async () => ({ rules: held, missing }),
    rulesOfRole: async () => role,
  });
}

const object = (content: JsonObject, metadata: JsonObject = {}): KubeObject => ({
  kind: "",
  apiVersion: "",
  metadata: { name: "x", namespace: "ns", ...metadata },
  ...content,
});

function write(next: KubeObject, previous?: KubeObject, user: UserInfo = alice, requestName = "") {
  const draft = new Draft(next);
  const context = { subresource: "", apiVersion: `${GROUP}/v1`, user, now: 0, features: defaultFeatureGates, draft };
  return { next, previous, context, requestName, dryRun: false };
}

const never = undefined as never;
const role = (situation: Situation, ...of: Parameters<typeof write>) =>
  checkRole("clusterroles", rightsIn(situation))(write(...of), never);
const binding = (situation: Situation, ...of: Parameters<typeof write>) =>
  checkBinding("rolebindings", rightsIn(situation))(write(...of), never);
const attempt = (resource: string) =>
  `${resource}.${GROUP} "x" is forbidden: user "alice" (groups=["dev" "all"]) is attempting to grant RBAC permissions not currently held:`;

test("a role may only have permissions of its writer", async () => {
  await role({ held: [GET] }, object({ rules: [GET] }));
  const more = { verbs: ["get", "list"], apiGroups: ["", "a"], resources: ["pods", "x/y"], resourceNames: ["n"] };
  const held = [GET, { verbs: ["*"], apiGroups: ["a"], resources: ["*/y"] }];
  const lines = [
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["n"], Verbs:["list"]}',
    '{APIGroups:[""], Resources:["x/y"], ResourceNames:["n"], Verbs:["get" "list"]}',
    '{APIGroups:["a"], Resources:["pods"], ResourceNames:["n"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/b"], Verbs:["get"]}',
    '{NonResourceURLs:["/b"], Verbs:["put"]}',
  ];
  const urls = { verbs: ["put", "get"], nonResourceURLs: ["/b"] };
  await assert.rejects(role({ held, missing: ["one", "two", "one"] }, object({ rules: [more, urls] })), {
    code: 403,
    message: `${attempt("clusterroles")}\n${lines.join("\n")}; resolution errors: [[clusterroles.${GROUP} "one" not found, clusterroles.${GROUP} "two" not found]]`,
  });
});

test("only a cluster-admin may write an aggregationRule", async () => {
  const aggregated = object({ aggregationRule: { clusterRoleSelectors: [{}] } });
  const message = `clusterroles.${GROUP} "x" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
  await assert.rejects(role({ held: [GET] }, aggregated), { message });
  await assert.rejects(role({ held: [GET] }, object({}), aggregated), { message });
  const all = [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ];
  await role({ held: all }, aggregated);
});

test("does not check users that may escalate, system:masters and the garbage collector", async () => {
  const asked: Attributes[] = [];
  const strong = object({ rules: [GET] });
  await role({ may: "escalate", asked }, strong, undefined, alice, "x");
  assert.equal(asked[0]?.name, "x");
  await role({}, strong, undefined, { name: "m", groups: ["system:masters"] });
  await role({}, object({ rules: [GET] }, { finalizers: ["f"] }), strong);
  await assert.rejects(role({}, object({ rules: [GET] }, { labels: { a: "b" } }), strong), { code: 403 });
});

test("a binding may only grant a role whose permissions its writer has, or that its writer may bind", async () => {
  const strong = object({ roleRef: { kind: "Role", name: "r", apiGroup: GROUP } });
  await binding({ held: [GET], role: [GET] }, strong);
  const asked: Attributes[] = [];
  await binding({ may: "bind", asked }, strong);
  assert.deepEqual([asked[0]?.resource, asked[0]?.name, asked[0]?.namespace], ["roles", "r", "ns"]);
  const line = '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}';
  await assert.rejects(binding({ role: [GET] }, strong), { message: `${attempt("rolebindings")}\n${line}` });
  await assert.rejects(binding({}, strong), { code: 404, message: `rolebindings.${GROUP} "r" not found` });
  await assert.rejects(binding({}, object({ roleRef: { kind: "Robot", name: "r" } })), { code: 500 });
});

test("rejects a role whose lists multiply to billions at once", async () => {
  const names = Array.from({ length: 2000 }, (_, index) => `n${index}`);
  const rules = [{ verbs: names, apiGroups: names, resources: names }];
  await assert.rejects(role({ held: [GET] }, object({ rules })), {
    code: 403,
    message: /more than 100000 combinations/,
  });
});
