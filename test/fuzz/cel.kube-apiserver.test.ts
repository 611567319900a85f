import assert from "node:assert/strict";
import { CelFuzzer, printCelResult } from "./cel.ts";
import { fuzzTest } from "./fuzz-test.ts";

fuzzTest(
  "random expressions of validation rules are refused, evaluated and charged as by the real kube-apiserver",
  2,
  async ({ t, twins, seed }) => {
    const result = await new CelFuzzer(twins, seed).run(400);
    t.diagnostic(`seed ${seed}: ${result.expressions} expressions, ${result.requests} requests`);
    assert.ok(result.accepted > 100 && result.requests > 80 && result.sums > 8);
    assert.equal(result.findings.length, 0, printCelResult(seed, result));
  },
);
