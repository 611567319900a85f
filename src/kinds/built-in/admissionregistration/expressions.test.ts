import assert from "node:assert/strict";
import { test } from "node:test";
import { kindUnderTest } from "../kind.suite.ts";
import { admissionregistrationKinds } from "./group.ts";

const policy = kindUnderTest(admissionregistrationKinds, "ValidatingAdmissionPolicy");
const mutating = kindUnderTest(admissionregistrationKinds, "MutatingAdmissionPolicy");

const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const common = {
  failurePolicy: "Fail",
  matchConstraints: { resourceRules: [rule], namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent" },
};
const validating = (spec: object) => ({ metadata: { name: "p" }, spec: { ...common, ...spec } });

test("later expressions can use variables, with the types of their expressions", () => {
  const variables = [
    { name: "replicas", expression: "[1, 2]" },
    { name: "first", expression: "variables.replicas[0]" },
  ];
  const problems = (expression: string) => policy.problems(validating({ variables, validations: [{ expression }] }));
  assert.deepEqual(problems("variables.first == 1"), []);
  assert.match(
    problems("variables.first == 'a'").join(),
    /found no matching overload for '_==_' applied to '\(int, string\)'/,
  );
  assert.match(problems("variables.other").join(), /undefined field 'other'/);
  const wrong = validating({ variables: [...variables].reverse(), validations: [{ expression: "true" }] });
  assert.match(
    policy.problems(wrong).join(),
    /spec\.variables\[0\]\.expression: Invalid value: .*undefined field 'replicas'/,
  );
});

test("a message cannot use the authorizer, and params need a paramKind", () => {
  const asking = { expression: "true", messageExpression: "authorizer.path('/').check('get').reason()" };
  assert.match(policy.problems(validating({ validations: [asking] })).join(), /undeclared reference to 'authorizer'/);
  const validations = [{ expression: "params == null" }];
  assert.match(policy.problems(validating({ validations })).join(), /undeclared reference to 'params'/);
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  assert.deepEqual(policy.problems(validating({ validations, paramKind })), []);
});

test("a stored expression may use features that a new one must not", () => {
  const next = validating({ validations: [{ expression: "[1, 2].includes(1)" }] });
  assert.match(policy.problems(next).join(), /undeclared reference to 'includes'/);
  assert.deepEqual(policy.problems(next, { previous: next }), []);
});

test("mutations must have the type of their patchType", () => {
  const problems = (mutation: object) =>
    mutating.problems(validating({ mutations: [mutation], reinvocationPolicy: "Never" })).join();
  const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
  const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
  assert.equal(problems(apply("Object{spec: Object.spec{replicas: 1}}")), "");
  assert.equal(problems(patch('[JSONPatch{op: "remove", path: "/a/" + jsonpatch.escapeKey("b/c")}]')), "");
  assert.match(problems(apply("{}")), /must evaluate to Object but got map\(/);
  assert.match(
    problems(patch("[JSONPatch{op: 1}]")),
    /expected type of field 'op' is 'string' but provided type is 'int'/,
  );
});
