import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { CelFuzzer, printCelResult } from "./cel.ts";
import { Twins } from "./twins.ts";

test("random expressions of validation rules are refused, evaluated and charged as by the real kube-apiserver", {
  timeout: 240_000,
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  // One seed, so that a run is as good as the one before; `npm run fuzz:cel` takes another each time.
  const seed = Number(process.env.FUZZ_SEED ?? 2);
  const twins = await Twins.start();
  t.after(() => twins.stop());
  const result = await new CelFuzzer(twins, seed).run(400);
  t.diagnostic(`seed ${seed}: ${result.expressions} expressions, ${result.requests} requests`);
  assert.ok(result.accepted > 100 && result.requests > 80 && result.sums > 8);
  assert.equal(result.findings.length, 0, printCelResult(seed, result));
});
