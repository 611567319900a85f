import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { fuzzPatches, printFindings } from "./patches.ts";
import { Twins } from "./twins.ts";

test("random histories of patches end as on the real kube-apiserver", {
  timeout: 240_000,
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  // One seed, so that a run is as good as the one before; `npm run fuzz:patches` takes another each time.
  const seed = Number(process.env.FUZZ_SEED ?? 2);
  const twins = await Twins.start();
  t.after(() => twins.stop());
  const findings = await fuzzPatches(twins, seed, 1000);
  t.diagnostic(`seed ${seed}: ${findings.patches} patches`);
  assert.equal(findings.found.length, 0, printFindings(findings));
});
