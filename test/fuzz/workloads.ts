import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { inLanes } from "./lanes.ts";
import { startCluster } from "./workloads/clusters.ts";
import { printDifference } from "./workloads/differences.ts";
import { COMPARED_KINDS, KINDS } from "./workloads/kinds.ts";
import { type Outcome, runSequence, type Twins } from "./workloads/sequence.ts";

const usage = `npm run fuzz workloads -- [OPTION...]

Applies the same random steps to two clusters on Binnacle with the real kube-scheduler and KWOK. In one, the controllers run in
Binnacle, in the other in the real kube-controller-manager. Prints where the two end in different states.

   --seed N           seed of the first sequence; default: random
   --count N          number of sequences, each with the next seed; default 50
   --lanes N          sequences at the same time; default 12
   --kinds A,B        create only objects of these kinds; default: all whose controllers Binnacle has
   --repeat N         run a sequence with a difference again, up to N times; default 2
   --both-real        run the real kube-controller-manager in both clusters: it does not always do the same
   --logs FOLDER      keep the files and logs of the programs there
   --verbose          print the steps of all sequences
`;

const print = (line: string) => process.stdout.write(`${line}\n`);
const flag = { type: "boolean" } as const;
const text = { type: "string" } as const;
const options = {
  ...{ "both-real": flag, help: flag, verbose: flag, logs: text, kinds: text, seed: text },
  ...{ count: { ...text, default: "50" }, lanes: { ...text, default: "12" }, repeat: { ...text, default: "2" } },
} as const;

async function startTwins(folder: string, isBothReal: boolean): Promise<Twins> {
  const onLost = (error: Error) => {
    throw error;
  };
  const theirs = startCluster(path.join(folder, "theirs"), "theirs", onLost);
  const ours = startCluster(path.join(folder, "ours"), isBothReal ? "theirs" : "ours", onLost);
  return Promise.all([theirs, ours]);
}

function printOutcome({ seed, steps, differences }: Outcome, repeated: string): void {
  print(`seed ${seed}: ${differences.length} differences after ${steps.length} steps${repeated}`);
  for (const [index, step] of steps.entries()) print(`  ${index + 1}. ${step}`);
  for (const difference of differences.slice(0, 12)) print(printDifference(difference));
}

/** Runs all sequences. Returns whether each ended the same in both clusters, at least once. */
async function fuzz(
  twins: Twins,
  settings: { seed: number; count: number; lanes: number; repeat: number; verbose: boolean; kinds: typeof KINDS },
): Promise<boolean> {
  const { seed, count, lanes, repeat, verbose, kinds } = settings;
  const began = performance.now();
  let [steps, ended, different, sometimes] = [0, 0, 0, 0];
  await inLanes(
    lanes,
    Array.from({ length: count }, (_, index) => seed + index),
    async (one) => {
      let outcome = await runSequence(twins, one, kinds);
      let tries = 1;
      const first = outcome;
      while (outcome.differences.length > 0 && tries <= repeat) {
        tries += 1;
        outcome = await runSequence(twins, one, kinds, tries);
      }
      steps += outcome.steps.length;
      ended += 1;
      if (ended % 50 === 0) print(`${ended} sequences`);
      if (outcome.differences.length > 0) {
        different += 1;
        printOutcome(outcome, `, in ${tries} of ${tries} runs`);
      } else if (tries > 1) {
        sometimes += 1;
        printOutcome(first, `, not in run ${tries}`);
      } else if (verbose) {
        printOutcome(outcome, "");
      }
    },
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  print(
    `seeds from ${seed}: ${ended} sequences, ${steps} steps, ${different} different, ${sometimes} different in some runs, ${seconds} s`,
  );
  return different === 0;
}

const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  const folder = values.logs ?? (await mkdtemp(path.join(tmpdir(), "binnacle-workloads-")));
  try {
    const twins = await startTwins(folder, values["both-real"] ?? false);
    try {
      const names = values.kinds?.split(",");
      const kinds = names ? KINDS.filter(({ collection }) => names.includes(collection.kind)) : COMPARED_KINDS;
      const seed = Number(values.seed ?? Date.now() % 1_000_000);
      const [count, lanes, repeat] = [Number(values.count), Number(values.lanes), Number(values.repeat)];
      if (!(await fuzz(twins, { seed, count, lanes, repeat, verbose: values.verbose ?? false, kinds })))
        process.exitCode = 1;
    } finally {
      await Promise.all(twins.map((cluster) => cluster.stop()));
    }
  } finally {
    if (values.logs === undefined) await rm(folder, { recursive: true, force: true });
  }
}
