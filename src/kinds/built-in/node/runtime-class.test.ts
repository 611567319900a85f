import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { nodeKinds } from "./group.ts";

const runtimeClass = kindUnderTest(nodeKinds, "RuntimeClass");

test("rejects an invalid RuntimeClass", () => {
  const toleration = { key: "k", operator: "Exists" };
  const rows: [body: JsonObject, previous: JsonObject | undefined, expected: readonly string[]][] = [
    [{ handler: "h", overhead: { podFixed: { cpu: "1" } } }, undefined, []],
    [{}, undefined, ["handler: Required value"]],
    [{ handler: "g" }, { handler: "h" }, ["handler: Invalid value: null: field is immutable"]],
    [
      { handler: "h", scheduling: { tolerations: [toleration, toleration] } },
      undefined,
      [
        'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}',
      ],
    ],
  ];
  for (const [body, previous, expected] of rows) assert.deepEqual(runtimeClass.problems(body, { previous }), expected);
  const old = { handler: "h", scheduling: { nodeSelector: { "beta.kubernetes.io/arch": "x" } } };
  assert.deepEqual(runtimeClass.warnings(old), [
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead',
  ]);
});
