import assert from "node:assert/strict";
import { test } from "node:test";
import { CostFuzzer } from "./fuzzer.ts";
import { heldMs, isFailure, printCost } from "./results.ts";
import { sampleCases } from "./sample.ts";

/** Processor time of the main thread, which takes at most 100 ms where nothing else runs. */
const MOST_MS = 5000;

test("no place that is made large fails, or keeps other connections waiting", async (t) => {
  const fuzzer = new CostFuzzer(300_000);
  t.after(() => fuzzer.stop());
  for (const one of sampleCases(fuzzer)) {
    const results = await fuzzer.measure(one, true);
    const wrong = results.filter((result) => heldMs(result) > MOST_MS || isFailure(result));
    assert.deepEqual(wrong.map(printCost), []);
  }
});
