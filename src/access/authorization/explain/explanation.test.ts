import assert from "node:assert/strict";
import { test } from "node:test";
import { notFound } from "../../../base/api/api-error.ts";
import { resourceAttributes } from "../../../base/api/attributes.ts";
import { CompiledRule } from "../policy-rules.ts";
import { RbacAuthorizer } from "../rbac.ts";
import type { Grant } from "../role-index.ts";
import { explain } from "./explanation.ts";

const user = { name: "alice", groups: [] };
const binding = (name: string, namespace: string): Grant["binding"] => ({
  kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding",
  ...{ name, namespace, roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "User", name: "alice" }] },
});
const rule = (verbs: string[], resources: string[], more: object = {}) =>
  new CompiledRule({ verbs, resources, apiGroups: [""], ...more });

function source(here: Grant[], elsewhere: Grant[] = []) {
  const index = {
    grants: function* () {
      yield* here;
    },
    rulesOf: () => [],
    grantsElsewhere: () => elsewhere,
  };
  return { index, authorizer: new RbacAuthorizer(index) };
}

const getPod = resourceAttributes(user, { verb: "get", apiGroup: "", resource: "pods", namespace: "dev", name: "p" });

test("lists the rules that lack least first, and omits unrelated ones", async () => {
  const here: Grant[] = [
    {
      binding: binding("a", ""),
      rules: [rule(["list"], ["pods"], { apiGroups: ["x"] }), rule(["delete"], ["secrets"])],
    },
    { binding: binding("b", "dev"), rules: [rule(["get"], ["pods"], { resourceNames: ["q"] })] },
    { binding: binding("gone", "dev"), rules: notFound({ group: "rbac.authorization.k8s.io", resource: "role" }, "r") },
  ];
  const elsewhere: Grant[] = [{ binding: binding("c", "prod"), rules: [rule(["*"], ["*"])] }];
  const { index, authorizer } = source(here, elsewhere);
  const { allowed, nearest, errors } = await explain(authorizer, index, getPod);
  assert.equal(allowed, false);
  assert.deepEqual(
    nearest.map((near) => [near.binding.name, near.lacks.map(({ what, has }) => [what, ...has])]),
    [
      ["b", [["resourceName", "q"]]],
      ["c", [["namespace", "prod"]]],
      [
        "a",
        [
          ["verb", "list"],
          ["apiGroup", "x"],
        ],
      ],
    ],
  );
  assert.deepEqual(errors, ['role.rbac.authorization.k8s.io "r" not found']);
});

test("reports the first rule that allows the request, with its index in the role", async () => {
  const here: Grant[] = [{ binding: binding("b", "dev"), rules: [rule(["list"], ["pods"]), rule(["get"], ["pods"])] }];
  const { index, authorizer } = source(here);
  const { allowed, allowedBy } = await explain(authorizer, index, getPod);
  assert.deepEqual(
    [allowed, allowedBy?.binding, allowedBy?.index],
    [true, { kind: "RoleBinding", name: "b", namespace: "dev" }, 1],
  );
  const other = { authorize: async () => ({ decision: "allow" as const }) };
  assert.equal((await explain(other, index, getPod)).allowedBy, undefined);
});

test("limits the length of the explanation", async () => {
  const many = Array.from({ length: 5000 }, (_, at) => `resource-${at}`);
  const here = Array.from(
    { length: 300 },
    (_, at): Grant => ({
      binding: binding(`b${at}`, "dev"),
      rules: Array.from({ length: 10 }, () => rule(["get"], many)),
    }),
  );
  const { index, authorizer } = source(here);
  const { nearest } = await explain(authorizer, index, getPod);
  assert.equal(nearest.length, 5);
  assert.ok(JSON.stringify(nearest).length < 10_000);
  assert.equal(nearest[0]?.lacks[0]?.has.at(-1), "… 4980 more");
});
