import assert from "node:assert/strict";
import { fuzzTest } from "./fuzz-test.ts";
import { fuzzPatches, printFindings } from "./patches.ts";

fuzzTest("random histories of patches end as on the real kube-apiserver", 2, async ({ t, twins, seed }) => {
  const findings = await fuzzPatches(twins, seed, 1000);
  t.diagnostic(`seed ${seed}: ${findings.patches} patches`);
  assert.equal(findings.found.length, 0, printFindings(findings));
});
