import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nonResourceAttributes, resourceAttributes } from "../../base/api/attributes.ts";
import { parsePolicy } from "./policy.ts";
import { policyEvaluator } from "./policy-match.ts";

const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
const alice = { name: "alice", groups: ["dev"] };

function parse(text: string, warnings: string[] = []) {
  return parsePolicy(Buffer.from(text), "p.yaml", (warning) => warnings.push(warning));
}

suite("an audit policy", () => {
  test("rejects an invalid policy with kube-apiserver's message", () => {
    const cases: [string, string][] = [
      [`${head}rules: []`, "loaded illegal policy with 0 rules"],
      [
        `${head}rules: [{level: Loud}]`,
        'rules[0].level: Unsupported value: "Loud": supported values: "None", "Metadata", "Request", "RequestResponse"',
      ],
      [`${head}rules: [{}]`, "rules[0].level: Required value"],
      [
        `${head}rules: [{level: None, nonResourceURLs: [a, "/*/b"]}]`,
        `[rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/*/b": non-resource URL wildcards '*' must be the final character of the rule]`,
      ],
      [
        `${head}rules: [{level: None, resources: [{resourceNames: [x]}]}]`,
        'rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource',
      ],
      [
        `${head}rules: [{level: None, nonResourceURLs: ["*"], namespaces: [a]}]`,
        'rules[0].nonResourceURLs: Invalid value: ["*"]: rules cannot apply to both regular resources and non-resource URLs',
      ],
      [
        `${head}omitStages: [Never]\nrules: [{level: None}]`,
        'omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
      ],
      ["rules: []", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"],
      [
        "kind: Policy\napiVersion: audit.k8s.io/v1beta1",
        'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" in scheme "pkg/runtime/scheme.go:111"',
      ],
      [
        `${head}rules: 3`,
        "failed decoding: json: cannot unmarshal number into Go struct field Policy.rules of type []v1.PolicyRule",
      ],
      [
        `${head}rules: [{level: None, users: [1]}]`,
        "failed decoding: json: cannot unmarshal number into Go struct field PolicyRule.rules.users of type string",
      ],
    ];
    for (const [text, expected] of cases) {
      assert.throws(() => parse(text), { message: `loading audit policy file: ${expected}: from file p.yaml` });
    }
    assert.throws(() => parse("a: ["), /failed decoding: yaml/);
  });

  test("accepts unknown members with a warning", () => {
    const warnings: string[] = [];
    parse(`${head}more: 1\nrules: [{level: None, lvl: x}]`, warnings);
    assert.deepEqual(warnings, [
      'Audit policy contains errors, falling back to lenient decoding: strict decoding error: unknown field "more", unknown field "rules[0].lvl"',
    ]);
  });

  test("applies the first matching rule", () => {
    const get = (resource: string, more: object = {}) =>
      resourceAttributes(alice, { verb: "get", apiGroup: "", resource, namespace: "ns", name: "name", ...more });
    const cases: [string, ReturnType<typeof get>, string][] = [
      ["users: [bob]", get("pods"), "None"],
      ["users: [alice]", get("pods"), "Metadata"],
      ["userGroups: [dev]", get("pods"), "Metadata"],
      ["userGroups: [ops]", get("pods"), "None"],
      ["verbs: [list]", get("pods"), "None"],
      ["namespaces: [ns]", get("pods"), "Metadata"],
      ['namespaces: [""]', get("pods"), "None"],
      ['namespaces: [""]', get("nodes", { namespace: "" }), "Metadata"],
      ["namespaces: [ns]", nonResourceAttributes(alice, "get", "/x"), "None"],
      ["resources: [{group: apps}]", get("pods"), "None"],
      ['resources: [{group: "*"}]', get("pods"), "Metadata"],
      ["resources: [{resources: [pods]}]", get("pods", { subresource: "log" }), "None"],
      ["resources: [{resources: [pods/log]}]", get("pods", { subresource: "log" }), "Metadata"],
      ['resources: [{resources: ["pods/*"]}]', get("pods"), "Metadata"],
      ['resources: [{resources: ["*/log"]}]', get("pods", { subresource: "log" }), "Metadata"],
      ['resources: [{resources: ["*/log"]}]', get("pods"), "None"],
      ['resources: [{resources: ["*"]}]', get("pods", { subresource: "log" }), "Metadata"],
      ["resources: [{resources: [pods], resourceNames: [other]}]", get("pods"), "None"],
      ["resources: [{resources: [pods], resourceNames: [name]}]", get("pods"), "Metadata"],
      ["nonResourceURLs: [/x]", nonResourceAttributes(alice, "get", "/x"), "Metadata"],
      ['nonResourceURLs: ["/x*"]', nonResourceAttributes(alice, "get", "/xy"), "Metadata"],
      ['nonResourceURLs: ["/x/*"]', nonResourceAttributes(alice, "get", "/x"), "None"],
      ['nonResourceURLs: ["*"]', get("pods"), "None"],
    ];
    for (const [rule, attributes, level] of cases) {
      const evaluate = policyEvaluator(parse(`${head}rules: [{level: Metadata, ${rule}}]`));
      assert.equal(evaluate(attributes, attributes.user).level, level, rule);
    }
    const byUser = policyEvaluator(parse(`${head}rules: [{level: Metadata, users: [alice]}]`));
    assert.equal(
      byUser(get("pods"), undefined).level,
      "None",
      "a user rule does not match a request that failed to authenticate",
    );
  });

  test("combines omitStages of policy and rule, and lets a rule keep managed fields", () => {
    const text = `${head}omitStages: [RequestReceived]\nomitManagedFields: true\nrules: [{level: Request, omitStages: [Panic], omitManagedFields: false}]`;
    const decided = policyEvaluator(parse(text))(nonResourceAttributes(alice, "get", "/"), alice);
    assert.deepEqual([...decided.omitStages], ["RequestReceived", "Panic"]);
    assert.equal(decided.omitManagedFields, false);
  });
});
