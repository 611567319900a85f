import assert from "node:assert/strict";
import { fuzzTest } from "./fuzz-test.ts";
import { PolicyFuzzer, printPolicyResult } from "./policies.ts";

fuzzTest(
  "random policies, and requests that they judge, are answered as by the real kube-apiserver",
  5,
  async ({ t, twins, seed }) => {
    const fuzzer = new PolicyFuzzer(twins, seed);
    await fuzzer.prepare(50);
    const result = await fuzzer.run(50);
    t.diagnostic(`seed ${seed}: ${result.policies} policies, ${result.requests} requests`);
    assert.ok(result.accepted > 30 && result.affected > 40, JSON.stringify(result));
    assert.equal(result.findings.length, 0, printPolicyResult(seed, result));
  },
);
