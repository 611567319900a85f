import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseSeed, Random } from "../model/random.ts";
import { differences, runRounds } from "./restarts.ts";

test("controllers keep all limits and reach the same state when the server is killed", async (t) => {
  const topology = { store: "sqlite", servers: 1 } as const;
  const seed = chooseSeed();
  t.diagnostic(`seed ${seed}`);
  const killed = await runRounds(topology, { kills: 3, random: new Random(seed) });
  assert.deepEqual(killed.problems, []);
  assert.ok(killed.counts.events > 0);
  const calm = await runRounds(topology, killed.rounds);
  assert.deepEqual(calm.problems, []);
  assert.deepEqual(differences(killed.objects, calm.objects), []);
});
