import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "./scheduling/clusters.ts";
import { prepare, runSequence, type Twins } from "./scheduling/sequence.ts";

const usage = `npm run fuzz scheduling -- [OPTION...]

Creates the same random nodes and Pods in two clusters on Binnacle. In one, the real kube-scheduler runs, in the other that of
Binnacle. Compares, Pod by Pod, the message if no node is possible, the victims of preemption, and the node: it must be one
that the real scheduler gives the highest score.

   --seed N           seed of the first sequence; default: random
   --count N          number of sequences, each with the next seed; default 100
   --config FILE      KubeSchedulerConfiguration of both schedulers; default: one with three profiles
   --logs FOLDER      keep the files and logs of the programs there
`;

const print = (line: string) => process.stdout.write(`${line}\n`);
const text = { type: "string" } as const;
const options = {
  help: { type: "boolean" },
  logs: text,
  config: text,
  seed: text,
  count: { ...text, default: "100" },
} as const;

async function fuzz(twins: Twins, seed: number, count: number): Promise<boolean> {
  const began = performance.now();
  const totals: Record<string, number> = {};
  let different = 0;
  for (let one = seed; one < seed + count; one += 1) {
    const { decisions, differences } = await runSequence(twins, one);
    for (const [kind, number] of Object.entries(decisions)) totals[kind] = (totals[kind] ?? 0) + number;
    if (differences.length === 0) continue;
    different += 1;
    print(`seed ${one}: ${differences.join("\n  ")}`);
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  const counts = Object.entries(totals).map(([kind, number]) => `${number} ${kind}`);
  print(`seeds from ${seed}: ${count} sequences, ${different} different, Pods ${counts.join(", ")}, ${seconds} s`);
  return different === 0;
}

const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  const folder = values.logs ?? (await mkdtemp(path.join(tmpdir(), "binnacle-scheduling-")));
  try {
    const configuration = values.config === undefined ? undefined : await readFile(values.config, "utf8");
    const start = (runs: "ours" | "theirs") => startCluster(path.join(folder, runs), runs, configuration);
    const twins: Twins = await Promise.all([start("theirs"), start("ours")]);
    try {
      await prepare(twins);
      const isSame = await fuzz(twins, Number(values.seed ?? Date.now() % 1_000_000), Number(values.count));
      if (!isSame) process.exitCode = 1;
    } finally {
      await Promise.all(twins.map((cluster) => cluster.stop()));
    }
  } finally {
    if (values.logs === undefined) await rm(folder, { recursive: true, force: true });
  }
}
