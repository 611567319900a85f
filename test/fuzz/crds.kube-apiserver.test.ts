import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { CrdFuzzer, printCrdResult } from "./crds.ts";
import { Twins } from "./twins.ts";

test("random definitions, and objects of them, are taken or refused as by the real kube-apiserver", {
  timeout: 240_000,
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  // One seed, so that a run is as good as the one before; `npm run fuzz:crds` takes another each time.
  const seed = Number(process.env.FUZZ_SEED ?? 2);
  const twins = await Twins.start();
  t.after(() => twins.stop());
  const result = await new CrdFuzzer(twins, seed).run(100);
  t.diagnostic(`seed ${seed}: ${result.definitions} definitions, ${result.requests} requests`);
  assert.ok(result.accepted > 40 && result.requests > 500);
  assert.equal(result.findings.length, 0, printCrdResult(seed, result));
});
