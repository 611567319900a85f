import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { compareWithGaps, nextGaps, parseGaps, printGaps, unsteadySteps } from "./gaps.ts";
import { OPTIONS_HELP, parseOptions, type ReplayOptions } from "./lib/options.mjs";
import { printAreas, printDifference, printScenario, printTotals } from "./lib/print.mjs";
import { type Report, runScenarios } from "./lib/run.mjs";
import { type GoldenServer, type ServerChoice, startServer } from "./server.ts";

const usage = `node test/golden/run.ts [--store memory|sqlite|etcd | --oracle | --base URL --token T --user alice=T2] [OPTION...]

Starts Binnacle (or the real kube-apiserver, or uses the server at --base), replays the golden corpus against it and
compares the steps that fail with the known gaps. A listed step that passes and an unlisted one that fails both fail
the run. The real kube-apiserver has no gaps. With --codes, --ignore or --no-gaps every difference counts.

   --store NAME       what Binnacle stores in: memory (default), sqlite or etcd, which is started, too
   --oracle           replay release 1.37 against the real kube-apiserver: checks the corpus and this tool
   --gaps FILE        the list of known gaps (default test/known-gaps.txt)
   --no-gaps          show what differs and leave the list alone
   --write-gaps       write the list from the result of this run; with --only or --skip, only the part that ran
   --runs N           how often --write-gaps runs the corpus (default 2); steps that differ between runs are named

The sources are started, or the program that BINNACLE_CLI names, such as dist/cli.js.
`;

/** What this command adds to the options of a replay. */
interface RunOptions {
  readonly server: ServerChoice;
  readonly gapFile: string;
  readonly usesGaps: boolean;
  readonly writesGaps: boolean;
  readonly runs: number;
  readonly replay: ReplayOptions;
}

function parseCommandLine(argv: readonly string[]): RunOptions {
  const own = { store: "memory", gaps: path.join(import.meta.dirname, "..", "known-gaps.txt"), runs: "2" };
  const flags = new Set<string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? "";
    const [flag = "", inline] = argument.split(/=(.*)/s, 2);
    const name = flag.slice(2);
    if (name === "store" || name === "gaps" || name === "runs") own[name] = inline ?? argv[++i] ?? "";
    else if (["oracle", "no-gaps", "write-gaps"].includes(name)) flags.add(name);
    else rest.push(argument);
  }
  const server = flags.has("oracle") ? "oracle" : own.store;
  if (!isServerChoice(server)) throw new Error(`--store is memory, sqlite or etcd, not ${server}`);

  const oracleOptions = server === "oracle" ? ["--release", "1.37"] : ["--timeout", "300"];
  const replay = parseOptions(["--jobs", "8", ...oracleOptions, ...rest]);
  const usesGaps = server !== "oracle" && !flags.has("no-gaps") && !replay.codes && replay.ignore.length === 0;
  const writesGaps = flags.has("write-gaps");
  if (writesGaps && !usesGaps) throw new Error("--write-gaps needs full comparisons against Binnacle");
  return { server, gapFile: own.gaps, usesGaps, writesGaps, runs: writesGaps ? Number(own.runs) : 1, replay };
}

const isServerChoice = (name: string): name is ServerChoice => ["memory", "sqlite", "etcd", "oracle"].includes(name);

const interrupted = Promise.withResolvers<never>();
interrupted.promise.catch(() => undefined);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)));
}

/** Replays against the server at --base, or against one that lives only for this replay. */
async function replayOnce({ server: choice, usesGaps, replay }: RunOptions): Promise<Report> {
  const print = usesGaps ? undefined : write(replay);
  if (replay.base) return runScenarios(replay, print);
  const server: GoldenServer = await startServer(choice);
  let stopping = false;
  try {
    const options = { ...replay, base: server.base, token: server.tokens.admin, users: { alice: server.tokens.alice } };
    const died = server.exited.then((how) => {
      if (!stopping) throw new Error(`the server ended during the replay: ${how}`);
      return undefined as never;
    });
    return await Promise.race([runScenarios(options, print), died, interrupted.promise]);
  } finally {
    stopping = true;
    await server.kill();
  }
}

const write = (options: ReplayOptions) => (result: Report["scenarios"][number]) => {
  process.stdout.write(printScenario(result, options));
};

async function readGaps(file: string): Promise<Set<string>> {
  try {
    return parseGaps(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Set();
    throw error;
  }
}

/** Prints every surprise and returns whether there was one. */
function reportSurprises(report: Report, gaps: ReadonlySet<string>, options: RunOptions): boolean {
  const { unexpectedFailures, unexpectedPasses } = compareWithGaps(report, gaps, isPartial(options.replay));
  const steps = new Map(report.scenarios.flatMap((s) => s.steps.map((step) => [`${s.name}/${step.id}`, step])));
  for (const name of unexpectedFailures) {
    const diffs = steps.get(name)?.diffs.slice(0, options.replay.diffs) ?? [];
    const text = diffs.map((difference) => printDifference(name, difference)).join("");
    process.stdout.write(`fails, and is not a known gap: ${name}\n${text}`);
  }
  for (const name of unexpectedPasses) process.stdout.write(`passes, and is still listed as a gap: ${name}\n`);
  process.stdout.write(
    `\n${printAreas(report)}${gaps.size} known gaps, ${unexpectedFailures.length} unexpected failures, ` +
      `${unexpectedPasses.length} unexpected passes\n`,
  );
  return unexpectedFailures.length + unexpectedPasses.length > 0;
}

const isPartial = (options: ReplayOptions) => options.only.length + options.skip.length > 0 || options.release !== null;

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    process.stdout.write(`${usage}${OPTIONS_HELP}\n`);
    return 0;
  }
  const options = parseCommandLine(argv);
  const gaps = options.usesGaps ? await readGaps(options.gapFile) : new Set<string>();
  const began = Date.now();
  const reports: Report[] = [];
  while (reports.length < options.runs) reports.push(await replayOnce(options));
  const report = reports.at(-1);
  if (report === undefined) throw new Error("--runs needs to be at least 1");
  if (options.replay.json) await writeFile(options.replay.json, `${JSON.stringify(report, null, 1)}\n`);

  let failed = report.failed > 0;
  if (options.writesGaps) {
    const unsteady = unsteadySteps(reports);
    await writeFile(options.gapFile, printGaps(nextGaps(reports, gaps, isPartial(options.replay))));
    for (const name of unsteady) process.stdout.write(`not the same in every run: ${name}\n`);
    process.stdout.write(printAreas(report));
    failed = unsteady.length > 0;
  } else if (options.usesGaps) {
    failed = reportSurprises(report, gaps, options);
  } else {
    process.stdout.write(`\n${printAreas(report)}`);
  }
  process.stdout.write(`${((Date.now() - began) / 1000).toFixed(0)} s\n${printTotals(report)}`);
  return failed ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  // Scenarios may still be running, against a server that is gone.
  process.exit(2);
}
