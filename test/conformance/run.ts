import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type ConformanceServer, startCluster } from "./cluster.ts";
import { startLivingCluster } from "./living.ts";
import {
  allNames,
  compareNames,
  type Names,
  type Outcome,
  type Plan,
  parseNames,
  planRun,
  printNames,
  withPassed,
} from "./names.ts";
import { runShare, type SuiteOptions } from "./suite.ts";

const usage = `npm run compare conformance -- [OPTION...]

Runs the official Kubernetes conformance tests that need nothing but an API server against Binnacle on etcd with its own
controllers: those of passing.txt. One that does not pass fails the run.

   --cluster          those of cluster.txt instead, which need the real controller manager, scheduler and nodes of KWOK
                      around the server
   --oracle           with --cluster: on the real kube-apiserver
   --own-controllers  with --cluster: all controllers inside of Binnacle, without kube-controller-manager
   --own              with --cluster: those of own.txt, with all controllers, the scheduler and simulated nodes inside of
                      Binnacle, and container-handlers.ts instead of containers
   --all              those of waiting.txt (cluster-waiting.txt), too; one of these that passes fails the run, unless
                      --write lists it
   --write            move the tests that have passed from the second list to the first
   --only PATTERN     only those whose name matches this regular expression
   --processes N      how many run side by side (default 4)
   --seed N           of the order within a process (default: random, printed)
   --reports FOLDER   keep the suite's own reports (JSON) there
`;

const STAGE_MS = { alone: 10 * 60_000, cluster: 60 * 60_000, own: 60 * 60_000 } as const;
// On the real server no test but the compacting one needs longer than 70 s.
const DOUBTFUL_MS = 100_000;
const MESSAGE_LINES = 8;

// The test polls every 20 s, so that a shorter interval gains nothing. Its server is its own: no other test can wait
// for what has been compacted.
const COMPACTING = ["--etcd-compaction-interval=8s"];

const LISTS = {
  alone: { passing: "passing.txt", waiting: "waiting.txt" },
  cluster: { passing: "cluster.txt", waiting: "cluster-waiting.txt" },
  own: { passing: "own.txt", waiting: "own-waiting.txt" },
} as const;

const listFile = (name: string) => path.join(import.meta.dirname, name);

interface Options {
  readonly mode: keyof typeof LISTS;
  readonly isOracle: boolean;
  readonly ownControllers: boolean;
  readonly all: boolean;
  readonly only: RegExp;
  readonly writes: boolean;
  readonly processes: number;
  readonly seed: number;
  readonly reports: string | undefined;
}

function parseCommandLine(args: string[]): Options | undefined {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    ...{ all: flag, write: flag, help: flag, cluster: flag, oracle: flag, "own-controllers": flag, own: flag },
    ...{ only: text, processes: text, seed: text, reports: text },
  };
  const { values } = parseArgs({ args, options });
  if (values.help) return undefined;
  if (values.oracle && !values.cluster) throw new Error("--oracle needs --cluster");
  if ((values["own-controllers"] || values.own) && (!values.cluster || values.oracle))
    throw new Error("--own and --own-controllers need --cluster, and Binnacle");
  return {
    mode: values.own ? "own" : values.cluster ? "cluster" : "alone",
    isOracle: values.oracle ?? false,
    ownControllers: values["own-controllers"] ?? false,
    all: values.all ?? false,
    only: new RegExp(values.only ?? ""),
    writes: values.write ?? false,
    processes: Number(values.processes ?? 4),
    seed: Number(values.seed ?? Math.floor(Math.random() * 1e6)),
    reports: values.reports,
  };
}

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)));
}

/** Runs the tests in their stages; `folder` gets one report per process. */
async function runAll(plan: Plan, options: Options, folder: string): Promise<Outcome[]> {
  const suite = (server: ConformanceServer, stage: string, withinMs = STAGE_MS[options.mode]): SuiteOptions => ({
    server,
    report: path.join(folder, `${stage}.json`),
    withinMs,
    seed: options.seed,
    signal: interrupted.signal,
  });
  const compacting = withCluster(
    plan.compacting.names.length > 0,
    () => startCluster(COMPACTING),
    (server) => runShare(plan.compacting, suite(server, "compacting")),
  );
  const isNeeded = plan.parallel.length + plan.serial.names.length + plan.doubtful.length > 0;
  const others = withCluster(
    isNeeded,
    () => startServer(options, folder),
    async (server) => {
      const shares = plan.parallel.map((share, i) => runShare(share, suite(server, `parallel-${i + 1}`)));
      const parallel = await settle(shares);
      const serial = await runShare(plan.serial, suite(server, "serial"));
      const left = [...plan.doubtful.entries()];
      const doubtful: Outcome[] = [];
      const workers = Array.from({ length: options.processes }, async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          doubtful.push(...(await runShare(next[1], suite(server, `doubtful-${next[0] + 1}`, DOUBTFUL_MS))));
        }
      });
      await settle(workers);
      return [...parallel.flat(), ...serial, ...doubtful];
    },
  );
  return (await settle([others, compacting])).flat();
}

async function startServer(options: Options, folder: string): Promise<ConformanceServer> {
  const { mode, isOracle, ownControllers } = options;
  if (mode === "alone") return startCluster();
  const files = path.join(folder, "cluster");
  await mkdir(files, { recursive: true });
  const own = { ownCluster: true, flags: [`--handlers=${listFile("container-handlers.ts")}`] };
  return startLivingCluster(isOracle ? "kube-apiserver" : "binnacle", files, mode === "own" ? own : { ownControllers });
}

/** Waits for all, so that nothing runs on when the first has failed. */
async function settle<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** What `run` gives, with a cluster that ends with it. A server that ends before is an error. */
async function withCluster(
  isNeeded: boolean,
  start: () => Promise<ConformanceServer>,
  run: (server: ConformanceServer) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  if (!isNeeded) return [];
  const server = await start();
  try {
    const outcomes = await run(server);
    const end = server.ended();
    if (end !== undefined) throw new Error(`the server ended during the run:\n${end}`);
    return outcomes;
  } finally {
    await server.kill();
  }
}

function printOutcome({ name, state, seconds, message }: Outcome): string {
  const head = `${state.padEnd(7)} ${seconds.toFixed(1).padStart(6)} s  ${name}\n`;
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  const kept = lines.length > MESSAGE_LINES ? [...lines.slice(0, MESSAGE_LINES - 1), lines.at(-1)] : lines;
  return head + kept.map((line) => `                  ${line}\n`).join("");
}

/** Prints the result and returns whether the lists are true. */
function report(outcomes: readonly Outcome[], names: Names, seconds: number): boolean {
  const { lost, won } = compareNames(outcomes, names);
  const print = (text: string) => process.stdout.write(text);
  for (const outcome of outcomes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) print(printOutcome(outcome));
  print("\n");
  for (const { name } of lost) print(`does not pass, and is listed as passing: ${name}\n`);
  for (const { name } of won) print(`passes, and is not listed as passing: ${name}\n`);
  const count = (state: Outcome["state"]) => outcomes.filter((outcome) => outcome.state === state).length;
  print(
    `${count("passed")} passed, ${count("failed")} failed, ${count("missing")} missing of ${outcomes.length} ` +
      `in ${seconds.toFixed(0)} s; ${lost.length} unexpected failures, ${won.length} unexpected passes\n`,
  );
  return lost.length + won.length === 0;
}

async function readNames(mode: Options["mode"]): Promise<Names> {
  const read = (name: string) => readFile(listFile(name), "utf8");
  const [passing, waiting] = await Promise.all([read(LISTS[mode].passing), read(LISTS[mode].waiting)]);
  return parseNames(passing, waiting);
}

async function main(args: string[]): Promise<number> {
  const options = parseCommandLine(args);
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const names = await readNames(options.mode);
  const wanted = (options.all ? allNames(names) : names.passing).filter((name) => options.only.test(name));
  const folder = options.reports ?? (await mkdtemp(path.join(tmpdir(), "binnacle-conformance-")));
  await mkdir(folder, { recursive: true });
  process.stdout.write(`${wanted.length} tests, --seed ${options.seed}\n`);
  try {
    const began = performance.now();
    const outcomes = await runAll(planRun(names, wanted, options.processes), options, folder);
    const isTrue = report(outcomes, names, (performance.now() - began) / 1000);
    if (!options.writes) return isTrue ? 0 : 1;
    const next = withPassed(names, outcomes);
    const text = printNames(next);
    const { passing, waiting } = LISTS[options.mode];
    await Promise.all([writeFile(listFile(passing), text.passing), writeFile(listFile(waiting), text.waiting)]);
    return compareNames(outcomes, next).lost.length === 0 ? 0 : 1;
  } finally {
    if (options.reports === undefined) await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
