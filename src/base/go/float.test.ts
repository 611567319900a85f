import assert from "node:assert/strict";
import { test } from "node:test";
import { printGoFloat } from "./float.ts";

const CASES: readonly (readonly [value: number, text: string])[] = [
  [0.5, "0.5"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [123456.7, "123456.7"],
  [1_000_000, "1e+06"],
  [1234567.8, "1.2345678e+06"],
  [-1e20, "-1e+20"],
  [1e100, "1e+100"],
  [0, "0"],
];

test("prints doubles like Go's %v", () => {
  for (const [value, text] of CASES) assert.equal(printGoFloat(value), text);
});
