import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { policyKinds } from "./group.ts";

const budget = kindUnderTest(policyKinds, "PodDisruptionBudget");

test("rejects an invalid PodDisruptionBudget", () => {
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{ maxUnavailable: "50%" }, []],
    [
      { minAvailable: 1, maxUnavailable: 1 },
      [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      { minAvailable: "101%", unhealthyPodEvictionPolicy: "Never" },
      [
        'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
        'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
      ],
    ],
    [
      { maxUnavailable: "some" },
      [
        "spec.maxUnavailable: Invalid value: \"some\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(budget.problems({ spec }), expected);
});

test("only keeps the v1beta1 label as the sole expression", () => {
  const mark = { key: "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match", operator: "Exists" };
  const selectorOf = (selector: JsonObject) => (budget.created({ spec: { selector } }).spec as JsonObject).selector;
  assert.deepEqual(selectorOf({ matchExpressions: [mark] }), { matchExpressions: [mark] });
  assert.deepEqual(selectorOf({ matchLabels: { a: "b" }, matchExpressions: [mark] }), { matchLabels: { a: "b" } });
});
