import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { PolicyFuzzer, printPolicyResult } from "./policies.ts";
import { Twins } from "./twins.ts";

test("random policies, and requests that they judge, are answered as by the real kube-apiserver", {
  timeout: 240_000,
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  // One seed, so that a run is as good as the one before; `npm run fuzz:policies` takes another each time.
  const seed = Number(process.env.FUZZ_SEED ?? 5);
  const twins = await Twins.start();
  t.after(() => twins.stop());
  const fuzzer = new PolicyFuzzer(twins, seed);
  await fuzzer.prepare(50);
  const result = await fuzzer.run(50);
  t.diagnostic(`seed ${seed}: ${result.policies} policies, ${result.requests} requests`);
  assert.ok(result.accepted > 30 && result.affected > 40, JSON.stringify(result));
  assert.equal(result.findings.length, 0, printPolicyResult(seed, result));
});
