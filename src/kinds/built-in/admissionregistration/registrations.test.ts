import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { admissionregistrationKinds } from "./group.ts";

const kindOf = (kind: string) => kindUnderTest(admissionregistrationKinds, kind);
const hooks = kindOf("ValidatingWebhookConfiguration");
const policy = kindOf("ValidatingAdmissionPolicy");
const binding = kindOf("ValidatingAdmissionPolicyBinding");
const mutating = kindOf("MutatingAdmissionPolicy");

const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const webhook = {
  name: "a.b.c",
  clientConfig: { url: "https://host/path" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};

test("rejects an invalid webhook", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [
      { name: "a.b" },
      ['webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ],
    [
      { clientConfig: { url: "http://host" }, timeoutSeconds: 31 },
      [
        "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
      ],
    ],
    [
      { clientConfig: { service: { name: "s", path: "x" } } },
      [
        "webhooks[0].clientConfig.service.name: Required value",
        "webhooks[0].clientConfig.service.path: Invalid value: \"x\": must start with a '/'",
        'webhooks[0].clientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
      ],
    ],
    [
      { rules: [{ ...rule, operations: ["*", "CREATE"], resources: ["*", "pods", "pods/*", "pods/log"] }] },
      [
        'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
        "webhooks[0].rules[0].resources[3]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify pods/log",
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods","pods/*","pods/log"]: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
  ];
  for (const [change, expected] of rows) {
    assert.deepEqual(hooks.problems({ webhooks: [{ ...webhook, ...change }] }), expected);
  }
});

test("tolerates in an update what the stored configuration already lacks", () => {
  const old = { ...webhook, sideEffects: "Some", admissionReviewVersions: ["v9"] };
  assert.deepEqual(hooks.problems({ webhooks: [old] }, { previous: { webhooks: [old] } }), []);
  assert.equal(hooks.problems({ webhooks: [old] }).length, 2);
  assert.deepEqual(
    hooks.warnings({
      webhooks: [
        { ...webhook, rules: [{ ...rule, apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"] }] },
      ],
    }),
    [
      "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect",
    ],
  );
});

const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] };

test("rejects an invalid policy", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [
      { validations: [] },
      [
        "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
      ],
    ],
    [{ matchConstraints: {} }, ["spec.matchConstraints.resourceRules: Required value"]],
    [
      { paramKind: { apiVersion: "a/b/c" }, variables: [{ name: "in" }] },
      [
        'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        "spec.paramKind.kind: Required value",
        'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
        "spec.variables[0].expression: Required value: expression is not specified",
      ],
    ],
    [
      { validations: [{ expression: " ", message: "a\nb", reason: "Unauthorized" }] },
      [
        "spec.validations[0].expression: Required value: expression is not specified",
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
  ];
  for (const [change, expected] of rows) assert.deepEqual(policy.problems({ spec: { ...spec, ...change } }), expected);
  assert.deepEqual(
    mutating.problems({
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ["DELETE"] }] },
        mutations: [{ patchType: "JSONPatch", applyConfiguration: { expression: "x" } }],
      },
    }),
    [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      "spec.reinvocationPolicy: Required value",
    ],
  );
});

test("rejects an invalid binding", () => {
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{ policyName: "p", validationActions: ["Deny"] }, []],
    [{}, ["spec.policyName: Required value", "spec.validationActions: Required value"]],
    [
      { policyName: "p", validationActions: ["Audit", "Audit"], paramRef: { name: "x", selector: {} } },
      [
        "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.parameterNotFoundAction: Required value",
        'spec.validationActions[1]: Duplicate value: "Audit"',
      ],
    ],
  ];
  for (const [one, expected] of rows) assert.deepEqual(binding.problems({ spec: one }), expected);
  assert.equal(
    binding.problems({ metadata: { name: "x.static.k8s.io" }, spec: { policyName: "p", validationActions: ["Deny"] } })
      .length,
    1,
  );
});
