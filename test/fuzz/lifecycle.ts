import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startOurs, startTheirs } from "./lifecycle/clusters.ts";
import { runSet, type Twins } from "./lifecycle/run-set.ts";
import { STAGE_SETS, type StageSet } from "./lifecycle/stage-sets.ts";

const usage = `npm run fuzz lifecycle -- [OPTION...]

Creates the same random Pods in two clusters with the Stages that KWOK comes with. In one, the real KWOK plays them, in the
other the simulated nodes of Binnacle. Compares the sequence of states of each Pod, as a watch shows it. Where Stages are
chosen by weights, compares the sets of paths that Pods take.

   --seed N           seed of the Pods; default: random
   --count N          number of Pods for each set of Stages; default 200
   --set NAME         only this set: ${STAGE_SETS.map(({ name }) => name).join(", ")}
   --oracle           KWOK works on kube-apiserver instead of Binnacle
   --logs FOLDER      keep the files and logs of the programs there
`;

const print = (line: string) => process.stdout.write(`${line}\n`);
const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const options = { help: flag, oracle: flag, logs: text, set: text, seed: text, count: { ...text, default: "200" } };

async function fuzz(folder: string, set: StageSet, seed: number, count: number, isOracle: boolean): Promise<boolean> {
  const began = performance.now();
  const server = isOracle ? "kube-apiserver" : "binnacle";
  const theirs = await startTheirs(path.join(folder, set.name, "theirs"), set, server);
  try {
    const twins: Twins = [theirs, await startOurs(path.join(folder, set.name, "ours"), set)];
    try {
      const { pods, states, paths, repeated, differences } = await runSet(twins, set, seed, count);
      for (const difference of differences) print(difference);
      const seconds = Math.round((performance.now() - began) / 1000);
      const counts = `${pods} Pods, ${states} states, ${differences.length} different, ${repeated} repeated`;
      print(`${set.name}, seed ${seed}: ${counts}, ${paths} paths by weight, ${seconds} s`);
      return differences.length === 0;
    } finally {
      await twins[1].stop();
    }
  } finally {
    await theirs.stop();
  }
}

const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  const folder = values.logs ?? (await mkdtemp(path.join(tmpdir(), "binnacle-lifecycle-")));
  try {
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    const sets = STAGE_SETS.filter(({ name }) => values.set === undefined || name === values.set);
    if (sets.length === 0) throw new Error(`no set "${values.set}"`);
    for (const set of sets) {
      const isSame = await fuzz(folder, set, seed, Number(values.count), values.oracle ?? false);
      if (!isSame) process.exitCode = 1;
    }
  } finally {
    if (values.logs === undefined) await rm(folder, { recursive: true, force: true });
  }
}
