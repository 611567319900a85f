import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { CostFuzzer } from "../cost/fuzzer.ts";
import { RawClient } from "../cost/raw-client.ts";
import { sampleCases } from "../cost/sample.ts";
import type { CostlyRequest } from "../cost/server.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { SECRET_MARK, SecretSearch } from "../support/secrets.ts";
import { eventually } from "../support/time.ts";
import { attack, prepare } from "./attackers.ts";
import type { CalmData, CalmFigures } from "./calm-client.ts";

/** Latencies of a well-behaved client, in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Result of a load. */
export interface LoadResult {
  /** Before the load, and under it. */
  readonly quiet: { readonly get: Latency; readonly create: Latency };
  readonly loaded: { readonly get: Latency; readonly create: Latency };
  /** Requests of the well-behaved client with a wrong response. */
  readonly errors: readonly string[];
  /**
   * Resident megabytes: before, peak, and after. Before and after exclude the history that the store keeps on purpose.
   */
  readonly memory: { readonly before: number; readonly peak: number; readonly after: number };
  /** CPU time of the server during the load, in cores. */
  readonly cores: number;
  readonly counts: ReadonlyMap<string, number>;
  /** Names of secrets found in error responses. The server's output is searched when it ends. */
  readonly leaked: readonly string[];
}

/** Duration of each phase. */
export interface LoadOptions {
  readonly seconds: number;
  readonly quietSeconds: number;
  /** How long memory may take to shrink. */
  readonly idleSeconds: number;
  /** The goal of memory, which ends the wait. */
  readonly memory: number;
}

/** Goals for GET and create, and for memory. */
export const GOALS = { p99Ms: 250, memory: 1.2 } as const;
/** Attackers run at low priority: they only use CPU time that the server and its client leave. */
const ATTACKERS_PRIORITY = 10;

/** Attacks a server with 50 hostile connections, and measures one well-behaved client. */
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
  const after = await settled(server, before * options.memory, options.idleSeconds);
  const figures = ({ get, create }: CalmFigures) => ({ get: latencyOf(get), create: latencyOf(create) });
  return {
    quiet: figures(quiet),
    loaded: figures(loaded),
    errors: [...quiet.errors, ...loaded.errors],
    memory: { before, peak, after },
    cores,
    counts,
    leaked: answers.found,
  };
}

/** The requests of the sample of `npm run fuzz cost`, and some with expensive query strings and headers. */
function costlyRequests(): CostlyRequest[] {
  const fuzzer = new CostFuzzer(1);
  return sampleCases(fuzzer)
    .map((one) => fuzzer.requestOf({ ...one, way: one.way === "store" ? "create" : one.way }))
    .map((costly) => ({ ...costly, path: costly.path.replace("/namespaces/fuzz/", "/namespaces/large/") }));
}

/** Sends each request once, so that compiled code and caches exist before memory is measured. */
async function warmUp(base: string, costly: readonly CostlyRequest[]): Promise<void> {
  const client = new RawClient(base, 300_000);
  for (const one of costly) await client.send(one);
  client.close();
}

/** Figures of the well-behaved client during `work`. */
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
 * Starts a server that collects garbage on SIGUSR2. V8 only collects when something is allocated, so the memory of an
 * idle server does not show what it retains.
 */
export function startCollecting(): Promise<RunningBinnacle> {
  const program = "data:text/javascript,process.on('SIGUSR2',()=>gc())";
  return startBinnacle({ nodeFlags: ["--expose-gc", "--import", program] });
}

/**
 * The minimum resident memory within `seconds`, or the first value within the bound, after garbage collection. Excludes
 * the history, which has its own limit.
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
  const client = new RawClient(base, 300_000);
  const { body } = await client.send({ method: "GET", path: "/metrics" });
  client.close();
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

/** The result as text. */
export function printLoad({ quiet, loaded, errors, memory, cores, counts, leaked }: LoadResult): string[] {
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
    ...leaked.map((name) => `leaked: ${name}`),
  ];
}

/** The goals that were missed. */
export function missesOf(result: LoadResult, goals: { readonly p99Ms: number; readonly memory: number }): string[] {
  const { loaded, errors, memory, leaked, counts } = result;
  const misses = [...errors, ...leaked.map((name) => `an error response contains ${name}`)];
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
    const result = await runLoad(server, {
      seconds: Number(values.seconds),
      quietSeconds: 10,
      idleSeconds: 120,
      memory: GOALS.memory,
    });
    const misses = missesOf(result, GOALS);
    process.stdout.write(`${[...printLoad(result), ...misses.map((miss) => `MISSED: ${miss}`)].join("\n")}\n`);
    process.exitCode = misses.length > 0 ? 1 : 0;
  } finally {
    await server.kill();
  }
}
