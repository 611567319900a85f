import assert from "node:assert/strict";
import { fuzzTest } from "./fuzz-test.ts";
import { chosenKinds, type KindResult, ObjectFuzzer, printResults } from "./objects.ts";

fuzzTest("random objects are taken or refused as by the real kube-apiserver", 2, async ({ t, twins, seed }) => {
  const fuzzer = new ObjectFuzzer(twins, seed);
  const results: KindResult[] = [];
  for (const kind of chosenKinds(undefined)) results.push(await fuzzer.run(kind, 20));
  t.diagnostic(`seed ${seed}: ${results.length} kinds`);
  assert.ok(results.filter(({ skipped }) => skipped === undefined).length > 30);
  assert.ok(
    results.every(({ findings }) => findings.length === 0),
    printResults(
      seed,
      results.filter(({ findings }) => findings.length > 0),
    ),
  );
});
