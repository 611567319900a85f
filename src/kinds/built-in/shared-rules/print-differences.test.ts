import assert from "node:assert/strict";
import { test } from "node:test";
import { printDifferences } from "./print-differences.ts";

test("prints frozen objects in their own order, others sorted", () => {
  const members = (z: number) => ({ z, a: 1 });
  const linesOf = (text: string) => text.split("\n").map((line) => line.trim());
  const sorted = linesOf(printDifferences(members(2), members(3)));
  const frozen = linesOf(printDifferences(Object.freeze(members(2)), Object.freeze(members(3))));
  assert.ok(sorted.indexOf('"a": 1,') < sorted.indexOf('- "z": 2'), sorted.join("\n"));
  assert.ok(frozen.indexOf('"a": 1') > frozen.indexOf('- "z": 2,'), frozen.join("\n"));
});
