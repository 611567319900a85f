import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { CostFuzzer } from "../cost/fuzzer.ts";
import { sampleCases } from "../cost/sample.ts";
import type { CostlyRequest } from "../cost/server.ts";
import { Teller } from "../cost/teller.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { SECRET_MARK, SecretSearch } from "../support/secrets.ts";
import { eventually } from "../support/time.ts";
import { attack, prepare } from "./attackers.ts";
import type { CalmData, CalmFigures } from "./calm-client.ts";

/** What a well-behaved client saw, in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What came of a load. */
export interface LoadResult {
  /** Before the load, and under it. */
  readonly quiet: { readonly get: Latency; readonly create: Latency };
  readonly loaded: { readonly get: Latency; readonly create: Latency };
  /** Requests of the well-behaved client that were not answered as they should be. */
  readonly errors: readonly string[];
  /** Resident megabytes: before, at most, and after; before and after without what the store keeps of the past on purpose. */
  readonly memory: { readonly before: number; readonly peak: number; readonly after: number };
  /** Processor time of the server during the load, in cores. */
  readonly cores: number;
  readonly counts: ReadonlyMap<string, number>;
  /** Secrets that stood in an error, by name. What the server wrote itself is searched when it ends. */
  readonly told: readonly string[];
}

/** How long each part lasts. */
export interface LoadOptions {
  readonly seconds: number;
  readonly quietSeconds: number;
  /** How long memory may take to come back. */
  readonly idleSeconds: number;
}

/** The goals: of GET and create, and of memory. */
export const GOALS = { p99Ms: 250, memory: 1.2 } as const;
/** Attackers are somewhere else: they take what the server and its client leave of the processor. */
const ATTACKERS_PRIORITY = 10;

/** Puts 50 hostile connections to a server, and one client that behaves well. */
export async function runLoad(server: RunningBinnacle, options: LoadOptions): Promise<LoadResult> {
  await prepare(server.base, server.secrets);
  const costly = costlyRequests();
  await warmUp(server.base, costly);
  const quiet = await whileCalm(server.base, "quiet", () => pass(options.quietSeconds));
  const before = await settled(server, Number.POSITIVE_INFINITY, 10);
  const used = processorSeconds(server.process.pid);
  const counts = new Map<string, number>();
  const answers = new SecretSearch();
  answers.add("a Secret's value", SECRET_MARK);
  const target = {
    base: server.base,
    costly,
    answers,
    count: (attacker: string, what: string) =>
      void counts.set(`${attacker}: ${what}`, (counts.get(`${attacker}: ${what}`) ?? 0) + 1),
  };
  let peak = 0;
  const loaded = await whileCalm(server.base, "loaded", async () => {
    const end = new AbortController();
    setPriority(ATTACKERS_PRIORITY);
    const attacked = attack(target, end.signal);
    for (let second = 0; second < options.seconds; second += 1) {
      await pass(1);
      peak = Math.max(peak, residentMb(server.process.pid));
    }
    end.abort();
    await attacked;
  });
  const cores = (processorSeconds(server.process.pid) - used) / options.seconds;
  const after = await settled(server, before * GOALS.memory, options.idleSeconds);
  const figures = ({ get, create }: CalmFigures) => ({ get: latencyOf(get), create: latencyOf(create) });
  return {
    quiet: figures(quiet),
    loaded: figures(loaded),
    errors: [...quiet.errors, ...loaded.errors],
    memory: { before, peak, after },
    cores,
    counts,
    told: answers.found,
  };
}

/** The requests of the sample of fuzz:cost, and of some that query strings and headers make. */
function costlyRequests(): CostlyRequest[] {
  const fuzzer = new CostFuzzer(1);
  return sampleCases(fuzzer)
    .map((one) => fuzzer.requestOf({ ...one, way: one.way === "store" ? "create" : one.way }))
    .map((costly) => ({ ...costly, path: costly.path.replace("/namespaces/fuzz/", "/namespaces/large/") }));
}

/** Each request once, so that what is compiled and kept anyway is there before memory is looked at. */
async function warmUp(base: string, costly: readonly CostlyRequest[]): Promise<void> {
  const teller = new Teller(base, 60_000);
  for (const one of costly) await teller.tell(one);
  teller.close();
}

/** What the well-behaved client saw while something went on. */
async function whileCalm(base: string, name: string, work: () => Promise<void>): Promise<CalmFigures> {
  const workerData: CalmData = { base, name };
  const worker = new Worker(path.join(import.meta.dirname, "calm-client.ts"), { workerData });
  const figures = new Promise<CalmFigures>((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await work();
  worker.postMessage("stop");
  return figures;
}

const pass = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)).then(() => undefined);

/**
 * Starts a server that collects garbage on SIGUSR2. V8 collects when something is allocated, so that the memory of a server with
 * nothing to do says nothing about what it holds.
 */
export function startCollecting(): Promise<RunningBinnacle> {
  const program = "data:text/javascript,process.on('SIGUSR2',()=>gc())";
  return startBinnacle({ nodeFlags: ["--expose-gc", "--import", program] });
}

/**
 * The least resident memory within some seconds, or the first that is within a bound, after garbage was collected, without the
 * history, which is bounded by itself.
 */
async function settled(server: RunningBinnacle, bound: number, seconds: number): Promise<number> {
  const { pid } = server.process;
  let least = Number.POSITIVE_INFINITY;
  const look = async () => {
    least = Math.min(least, residentMb(pid) - (await historyMb(server.base)));
    process.kill(pid, "SIGUSR2");
    return Number.isFinite(bound) && least <= bound;
  };
  await eventually(look, { withinMs: seconds * 1000, everyMs: 2000 }).catch(() => undefined);
  return least;
}

async function historyMb(base: string): Promise<number> {
  const teller = new Teller(base, 60_000);
  const { body } = await teller.tell({ method: "GET", path: "/metrics" });
  teller.close();
  return Math.round(Number(/^binnacle_history_bytes (\S+)$/m.exec(body.text)?.[1]) / 1024 / 1024);
}

function residentMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) / 1024);
}

/** The kernel counts in hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) * 10) / 10;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The result in words. */
export function printLoad({ quiet, loaded, errors, memory, cores, counts, told }: LoadResult): string[] {
  const line = (name: string, { count, p50, p99, max }: Latency) =>
    `${name}: ${count} requests, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
  return [
    line("quiet, GET", quiet.get),
    line("quiet, create", quiet.create),
    line("under load, GET", loaded.get),
    line("under load, create", loaded.create),
    `memory: ${memory.before} MB before, ${memory.peak} MB at most, ${memory.after} MB after (${(memory.after / memory.before).toFixed(2)})`,
    `processor of the server: ${cores.toFixed(2)} cores`,
    ...[...counts].sort().map(([what, count]) => `  ${what}: ${count}`),
    ...errors.map((error) => `wrong: ${error}`),
    ...told.map((name) => `told: ${name}`),
  ];
}

/** What misses a goal. */
export function missesOf(result: LoadResult, goals: { readonly p99Ms: number; readonly memory: number }): string[] {
  const { loaded, errors, memory, told, counts } = result;
  const misses = [...errors, ...told.map((name) => `an error told ${name}`)];
  for (const [verb, { p99 }] of Object.entries(loaded)) if (p99 > goals.p99Ms) misses.push(`p99 of ${verb}: ${p99} ms`);
  if (memory.after > memory.before * goals.memory) misses.push(`memory: ${memory.before} MB, then ${memory.after} MB`);
  for (const [what, count] of counts) {
    if (what.endsWith(": 500")) misses.push(`${count} × ${what}`);
    if (what.includes(": no answer")) misses.push(`${count} × ${what}`);
  }
  return misses;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: "string", default: "600" } } });
  const server = await startCollecting();
  try {
    const result = await runLoad(server, { seconds: Number(values.seconds), quietSeconds: 10, idleSeconds: 120 });
    const misses = missesOf(result, GOALS);
    process.stdout.write(`${[...printLoad(result), ...misses.map((miss) => `MISSED: ${miss}`)].join("\n")}\n`);
    process.exitCode = misses.length > 0 ? 1 : 0;
  } finally {
    await server.kill();
  }
}
