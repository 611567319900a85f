import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { chosenKinds, type KindResult, ObjectFuzzer, printResults } from "./objects.ts";
import { Twins } from "./twins.ts";

test("random objects are taken or refused as by the real kube-apiserver", {
  timeout: 240_000,
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  // One seed, so that a run is as good as the one before; `npm run fuzz:objects` takes another each time.
  const seed = Number(process.env.FUZZ_SEED ?? 2);
  const twins = await Twins.start();
  t.after(() => twins.stop());
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
