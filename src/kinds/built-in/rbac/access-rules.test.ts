import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { rbacKinds } from "./group.ts";

const GROUP = "rbac.authorization.k8s.io";
const role = kindUnderTest(rbacKinds, "Role");
const clusterRole = kindUnderTest(rbacKinds, "ClusterRole");
const binding = kindUnderTest(rbacKinds, "RoleBinding");
const clusterBinding = kindUnderTest(rbacKinds, "ClusterRoleBinding");

const BOTH =
  'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs';
const NAMESPACED =
  'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs';

test("rejects an invalid rule", () => {
  const rows: [kind: typeof role, rule: JsonObject, expected: readonly string[]][] = [
    [role, { verbs: ["get"], apiGroups: [""], resources: ["pods"] }, []],
    [clusterRole, { verbs: ["get"], nonResourceURLs: ["/x"] }, []],
    [role, { verbs: ["get"], nonResourceURLs: ["/x"], resources: ["pods"] }, [NAMESPACED, BOTH]],
    [
      role,
      {},
      [
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
        "rules[0].verbs: Required value",
      ],
    ],
  ];
  for (const [kind, rule, expected] of rows) assert.deepEqual(kind.problems({ rules: [rule] }), expected);
  assert.deepEqual(clusterRole.problems({ aggregationRule: {} }), [
    "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
  ]);
});

test("sets apiGroup of subjects and roleRef", () => {
  const subjects = [
    { kind: "User", name: "u" },
    { kind: "ServiceAccount", name: "s" },
  ];
  const { roleRef, subjects: filled } = binding.complete({ roleRef: { kind: "Role", name: "r" }, subjects });
  assert.deepEqual(roleRef, { kind: "Role", name: "r", apiGroup: GROUP });
  assert.deepEqual(filled, [{ ...subjects[0], apiGroup: GROUP }, subjects[1]]);
});

test("rejects an invalid binding", () => {
  const roleRef = { kind: "ClusterRole", name: "r" };
  const subject = (one: JsonObject) => ({ roleRef, subjects: [one] });
  const rows: [kind: typeof binding, body: JsonObject, expected: readonly string[]][] = [
    [binding, subject({ kind: "ServiceAccount", name: "s" }), []],
    [clusterBinding, subject({ kind: "ServiceAccount", name: "s" }), ["subjects[0].namespace: Required value"]],
    [
      binding,
      subject({ kind: "Robot", name: "s" }),
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      clusterBinding,
      { roleRef: { kind: "Role" } },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"', "roleRef.name: Required value"],
    ],
  ];
  for (const [kind, body, expected] of rows) assert.deepEqual(kind.problems(body), expected);
  assert.deepEqual(binding.problems({ roleRef: { ...roleRef, name: "x" } }, { previous: { roleRef } }), [
    `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"x"}: field is immutable`,
  ]);
});
