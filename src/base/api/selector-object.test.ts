import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesLabels } from "./label-selector.ts";
import type { Json } from "./object.ts";
import { printLabelSelector, readLabelMap, readSelectorObject } from "./selector-object.ts";

test("prints selector objects as text, sorted by key", () => {
  const rows: [selector: Json, text: string | undefined][] = [
    [{}, ""],
    [{ matchLabels: { b: "2", a: "1" } }, "a=1,b=2"],
    [
      { matchLabels: { b: "2" }, matchExpressions: [{ key: "a", operator: "In", values: ["y", "x"] }] },
      "a in (x,y),b=2",
    ],
    [
      {
        matchExpressions: [
          { key: "a", operator: "Exists" },
          { key: "b", operator: "DoesNotExist" },
        ],
      },
      "a,!b",
    ],
    [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["x"] }] }, "a notin (x)"],
    [{ matchExpressions: [{ key: "a", operator: "Near" }] }, undefined],
    [{ matchExpressions: [{ key: "a", operator: "In" }] }, undefined],
  ];
  for (const [selector, text] of rows) {
    const read = readSelectorObject(selector);
    assert.equal(read && printLabelSelector(read), text);
  }
  assert.equal(printLabelSelector(readLabelMap({ b: "2", a: "1" })), "a=1,b=2");
});

test("selector objects match labels", () => {
  const selector = readSelectorObject({
    matchLabels: { a: "1" },
    matchExpressions: [{ key: "b", operator: "DoesNotExist" }],
  });
  assert.ok(selector);
  assert.equal(matchesLabels(selector, { a: "1", c: "3" }), true);
  assert.equal(matchesLabels(selector, { a: "1", b: "2" }), false);
  assert.equal(matchesLabels(selector, undefined), false);
});
