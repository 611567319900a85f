import assert from "node:assert/strict";
import { test } from "node:test";
import { CostFuzzer, isFailure, printCost } from "./cost.ts";
import { SIZES } from "./cost-cases.ts";
import { sampleCases } from "./cost-sample.ts";

/** Far above what any of them takes alone: other tests run at the same time. */
const MOST_MS = 2000;

test("no place that is made large fails, or keeps other connections waiting", async (t) => {
  const { screen, large } = SIZES;
  const fuzzer = new CostFuzzer({ screen, large, until: Number.POSITIVE_INFINITY, timeoutMs: 10_000 });
  t.after(() => fuzzer.stop());
  for (const one of sampleCases(fuzzer)) await fuzzer.one(one);
  const wrong = fuzzer.results.filter((one) => one.stallMs > MOST_MS || one.status === 0 || isFailure(one));
  assert.deepEqual(wrong.map(printCost), []);
});
