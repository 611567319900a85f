import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormatName, formatErrors } from "./declared-formats.ts";

test("distinguishes valid and invalid texts of each format", () => {
  const rows: [format: FormatName, good: readonly string[], bad: readonly string[]][] = [
    ["short-name", ["a", "a-1"], ["", "A", "a.b", "x".repeat(64)]],
    ["long-name", ["a.b"], ["", "a..b", "x".repeat(254)]],
    ["long-name-caseless", ["A.b"], ["_", "a_b"]],
    ["path-segment-name", ["a b"], ["..", "a/b", "%"]],
    ["label-key", ["a", "b.c/D"], ["", "a b", "a/b/c"]],
    ["label-value", ["", "A"], ["a b", "-"]],
    ["uuid", ["12345678-1234-1234-1234-123456789abc"], ["", "12345678-1234-1234-1234-123456789ABC"]],
    ["resource-pool-name", ["a/b.c"], ["a//b", "A", "x".repeat(254)]],
    ["resource-fully-qualified-name", ["d.e/f_1"], ["f", "/f", "d/", "D/f", `d/${"x".repeat(33)}`]],
    ["extended-resource-name", ["e.com/x"], ["x", "kubernetes.io/x", "requests.e.com/x"]],
  ];
  for (const [format, good, bad] of rows) {
    for (const value of good) assert.deepEqual(formatErrors(format, value, "f"), [], `${format} ${value}`);
    for (const value of bad) assert.notDeepEqual(formatErrors(format, value, "f"), [], `${format} ${value}`);
  }
});
