import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithGaps, nextGaps, parseGaps, printGaps, unsteadySteps } from "./gaps.ts";
import type { Report } from "./lib/run.mjs";

/** A report from lines such as { "list-order": { first: true, second: false } }. */
function reportOf(results: Record<string, Record<string, boolean>>): Report {
  const scenarios = Object.entries(results).map(([name, steps]) => ({
    name,
    area: "x",
    matched: 0,
    total: 0,
    ms: 0,
    steps: Object.entries(steps).map(([id, ok]) => ({ id, ok, diffs: [] })),
  }));
  return { base: "", passed: 0, failed: 0, scenarios };
}

test("a listed step that passes and an unlisted one that fails are both named", () => {
  const report = reportOf({ a: { one: true, two: false }, b: { one: false } });
  const { unexpectedFailures, unexpectedPasses } = compareWithGaps(report, new Set(["a/one", "a/two"]), false);
  assert.deepEqual(unexpectedFailures, ["b/one"]);
  assert.deepEqual(unexpectedPasses, ["a/one"]);
});

test("an entry of a step that does not exist counts as passed in a whole run only", () => {
  const report = reportOf({ a: { one: false } });
  const gaps = new Set(["a/one", "gone/one"]);
  assert.deepEqual(compareWithGaps(report, gaps, false).unexpectedPasses, ["gone/one"]);
  assert.deepEqual(compareWithGaps(report, gaps, true).unexpectedPasses, []);
  assert.deepEqual(compareWithGaps(report, new Set(["a/one", "a/gone"]), true).unexpectedPasses, ["a/gone"]);
});

test("a partial run replaces only the entries of its own scenarios", () => {
  const report = reportOf({ a: { one: true, two: false } });
  const gaps = new Set(["a/one", "b/one"]);
  assert.deepEqual([...nextGaps([report], gaps, true)].toSorted(), ["a/two", "b/one"]);
  assert.deepEqual([...nextGaps([report], gaps, false)], ["a/two"]);
});

test("steps that differ between runs are listed as gaps and named as unsteady", () => {
  const reports = [reportOf({ a: { one: false, two: false } }), reportOf({ a: { one: true, two: false } })];
  assert.deepEqual([...nextGaps(reports, new Set(), false)].toSorted(), ["a/one", "a/two"]);
  assert.deepEqual(unsteadySteps(reports), ["a/one"]);
});

test("a gap file is sorted and reads back as it was", () => {
  const text = printGaps(["b/x", "a/y", "a/b.c"]);
  assert.match(text, /^# .*\na\/b\.c\na\/y\nb\/x\n$/);
  assert.deepEqual(parseGaps(text), new Set(["a/b.c", "a/y", "b/x"]));
});
