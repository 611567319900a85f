import { mkdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { inLanes } from "../../fuzz/lanes.ts";
import { startBinnacle } from "../../support/binnacle.ts";
import { startOracle } from "../../support/oracle.ts";
import { AREAS } from "./areas.ts";
import type { Answer } from "./cases.ts";
import { casesOf, countCalls, differences, type NamedCase } from "./compare.ts";
import { readRecording, writeRecording } from "./recordings.ts";
import { runCase, type Target } from "./run-case.ts";

/**
 * `npm run compare kubectl [-- AREA …]`: the commands of all areas with the real kube-apiserver and with Binnacle, side by side.
 * `--record` keeps what the real one answered in recorded/; `--recorded` compares with that, without the real one. `--case TEXT`
 * picks cases by their title.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    record: { type: "boolean" },
    recorded: { type: "boolean" },
    case: { type: "string", default: "" },
    lanes: { type: "string", default: "3" },
  },
});
const areas = AREAS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (areas.length === 0) throw new Error(`known areas are: ${AREAS.map(({ name }) => name).join(", ")}`);
const recordings = new Map(
  await Promise.all(areas.map(async ({ name }) => [name, await readRecording(name)] as const)),
);

const binnacle = await startBinnacle({ flags: ["--custom-objects=defined"] });
const oracle = values.recorded ? undefined : await startOracle();
const targetIn = async (folder: string, base: string): Promise<Target> => {
  const directory = path.join(binnacle.directory, folder);
  await mkdir(directory);
  return { base, directory };
};

const began = performance.now();
const answers = new Map<string, readonly Answer[]>();
let calls = 0;
let different = 0;

/** Runs a case with both servers and tells of what differs. */
async function compareCase(ours: Target, theirs: Target | undefined, { area, namespace, script }: NamedCase) {
  const recorded = recordings.get(area.name)?.get(script.title) ?? [];
  const [found, wanted] = await Promise.all([
    runCase(ours, namespace, script),
    theirs ? runCase(theirs, namespace, script) : recorded,
  ]);
  answers.set(namespace, wanted);
  calls += countCalls(script);
  const stale = values.record ? [] : differences(script, recorded, wanted);
  const problems = [...differences(script, wanted, found), ...stale.map((text) => `recorded otherwise: ${text}`)];
  different += problems.length;
  for (const problem of problems) process.stdout.write(`\n${area.name}: ${script.title}\n${problem}`);
}

try {
  const ours = await targetIn("ours", binnacle.base);
  const theirs = oracle && (await targetIn("theirs", oracle.base));
  const chosen = casesOf(areas).filter(({ script }) => script.title.includes(values.case));
  await inLanes(Number(values.lanes), chosen, (named) => compareCase(ours, theirs, named));
} finally {
  await Promise.all([binnacle.kill(), oracle?.kill()]);
}
if (values.record)
  for (const area of areas) {
    const answered = casesOf([area]).map(({ namespace, script: { title } }) => {
      return [title, answers.get(namespace) ?? recordings.get(area.name)?.get(title) ?? []] as const;
    });
    await writeRecording(area.name, new Map(answered));
  }
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(`\n${areas.length} areas, ${calls} calls of kubectl, ${different} differences, ${seconds} s\n`);
process.exitCode = different > 0 ? 1 : 0;
