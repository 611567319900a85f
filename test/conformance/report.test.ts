import assert from "node:assert/strict";
import { test } from "node:test";
import { outcomesOf } from "./report.ts";

const record = (container: string, leaf: string, state: string) => ({
  ContainerHierarchyTexts: [container],
  LeafNodeText: leaf,
  State: state,
  RunTime: 2_000_000_000,
  ...(state === "failed" ? { Failure: { Message: "why", Location: { FileName: "/x/y.go", LineNumber: 7 } } } : {}),
});

test("a test has passed only if the report says so", () => {
  const records = [record("a", "one", "passed"), record("a", "two", "failed"), record("a", "three", "skipped")];
  const outcomes = outcomesOf(["a one", "a two", "a three", "a four"], records, "the end of the output");
  assert.deepEqual(
    outcomes.map(({ state }) => state),
    ["passed", "failed", "missing", "missing"],
  );
  assert.equal(outcomes[0]?.seconds, 2);
  assert.equal(outcomes[1]?.message, "why\n(y.go:7)");
  assert.equal(outcomes[3]?.message, "the end of the output");
});
