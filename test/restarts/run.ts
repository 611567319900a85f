import { parseArgs } from "node:util";
import { chooseSeed, Random } from "../model/random.ts";
import { differences, runRounds, type Topology } from "./restarts.ts";

/**
 * Kills servers during rollouts, Jobs and updates of StatefulSets, and compares the end with a run without kills:
 * `npm run fuzz restarts -- --kills 100 --store sqlite`. MODEL_SEED repeats the random moments.
 */
const { values } = parseArgs({ options: { kills: { type: "string", default: "100" }, store: { type: "string" } } });

const TOPOLOGIES: readonly Topology[] = [
  { store: "sqlite", servers: 1 },
  { store: "etcd", servers: 2 },
];

const print = (text: string) => void process.stdout.write(`${text}\n`);

for (const topology of TOPOLOGIES) {
  if (values.store !== undefined && values.store !== topology.store) continue;
  const seed = chooseSeed();
  print(`${topology.store}, ${topology.servers} server(s), seed ${seed}`);
  const beganMs = performance.now();
  const killed = await runRounds(topology, { kills: Number(values.kills), random: new Random(seed) });
  const { rounds, kills, counts } = killed;
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
  print(`  ${kills} kills in ${rounds} rounds and ${seconds} s`);
  print(`  ${counts.events} events of Pods checked, ${counts.lost} times events were missing`);
  const calm = await runRounds(topology, rounds);
  const problems = [...killed.problems, ...calm.problems, ...differences(killed.objects, calm.objects)];
  for (const problem of problems) print(`  ${problem}`);
  print(problems.length === 0 ? "  the same end, no limit exceeded" : `  ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
