import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { startControlPlane } from "../src/testing.ts";
import { median } from "./support.ts";

/**
 * What control planes in a test cost: the first of a process, further ones, forks of 10,000 objects, going back, 200 tests with
 * a fork each, and 1,000 forks alive. Needs `npm run build` for the first one, and `--expose-gc` for memory.
 */
const OBJECTS = 10_000;
const FORKS = 1000;

const collect = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};
const timed = async <T>(work: () => Promise<T>): Promise<[ms: number, result: T]> => {
  const began = performance.now();
  const result = await work();
  return [performance.now() - began, result];
};
/** Milliseconds of processor time of all threads of this process: what a busy machine changes least. */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const say = (what: string, figures: string): void => void process.stdout.write(`${what.padEnd(62)} ${figures}\n`);
const ms = (values: readonly number[]): string =>
  `${median([...values].sort((a, b) => a - b)).toFixed(2)} ms (median of ${values.length})`;

/** The two ways in turn, as a busy machine is busier at times. Processor time is that of all threads of the process. */
async function first(): Promise<void> {
  const testing = path.join(import.meta.dirname, "..", "dist", "testing.js");
  const program = `
    const began = performance.now();
    const { startControlPlane } = await import(${JSON.stringify(testing)});
    const cp = await startControlPlane();
    const ms = performance.now() - began;
    await cp.close();
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify([ms, (user + system) / 1000]));
  `;
  const cache = await mkdtemp(path.join(tmpdir(), "binnacle-compiled-"));
  const ways = [
    { what: "", env: { TMPDIR: cache } as Record<string, string> },
    { what: ", no compile cache", env: { NODE_DISABLE_COMPILE_CACHE: "1" } },
  ].map((way) => ({ ...way, values: [] as number[], processor: [] as number[] }));
  for (let run = 0; run <= 10; run++) {
    for (const { env, values, processor } of ways) {
      const options = { env: { ...process.env, ...env } };
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], options);
      // The first fills the cache.
      if (run === 0) continue;
      const [tookMs, usedMs] = JSON.parse(stdout) as [number, number];
      values.push(tookMs);
      processor.push(usedMs);
    }
  }
  for (const { what, values, processor } of ways) {
    say(`first control plane of a process, import included${what}`, ms(values));
    say("  processor time of the process, least", `${Math.min(...processor).toFixed(0)} ms`);
  }
  await rm(cache, { recursive: true, force: true });
}

async function further(): Promise<void> {
  await using _ = await startControlPlane();
  const planes = [];
  const values: number[] = [];
  const before = collect();
  const usedBefore = processorMs();
  for (let i = 0; i < 50; i++) {
    const [took, plane] = await timed(async () => {
      const made = await startControlPlane();
      await (await made.fetch("/api/v1/namespaces/default")).text();
      return made;
    });
    values.push(took);
    planes.push(plane);
  }
  say("further control plane, with its first request", ms(values));
  say("  processor time each", `${((processorMs() - usedBefore) / planes.length).toFixed(1)} ms`);
  say("  memory each", `${((collect() - before) / planes.length).toFixed(2)} MB`);
  for (const plane of planes) await plane.close();
}

async function forks(): Promise<void> {
  await using cp = await startControlPlane({ controllers: "none" });
  for (let i = 0; i < OBJECTS; i++) {
    const body = JSON.stringify({ metadata: { name: `c-${i}` }, data: { value: String(i) } });
    const headers = { "content-type": "application/json" };
    await (await cp.fetch("/api/v1/namespaces/default/configmaps", { method: "POST", body, headers })).text();
  }
  const objects = `${OBJECTS.toLocaleString("en")} objects`;
  const values = { fork: [] as number[], first: [] as number[], snapshot: [] as number[], restore: [] as number[] };
  const read = "/api/v1/namespaces/default/configmaps/c-1";
  for (let i = 0; i < 30; i++) {
    const [forkMs, fork] = await timed(() => cp.fork());
    values.fork.push(forkMs);
    values.first.push((await timed(async () => (await fork.fetch(read)).text()))[0]);
    const [snapshotMs, snapshot] = await timed(async () => fork.snapshot());
    values.snapshot.push(snapshotMs);
    await fork.fetch(read, { method: "DELETE" });
    values.restore.push((await timed(() => fork.restore(snapshot)))[0]);
    await fork.close();
  }
  say(`fork of ${objects}`, ms(values.fork));
  say("  its first request", ms(values.first));
  say(`snapshot of ${objects}`, ms(values.snapshot));
  say(`restore or reset of ${objects}`, ms(values.restore));

  const usedBefore = processorMs();
  const [suiteMs] = await timed(async () => {
    for (let i = 0; i < 200; i++) {
      await using fork = await cp.fork();
      await (await fork.fetch(read)).text();
    }
  });
  say("200 tests with a fork of it and one request each", `${(suiteMs / 1000).toFixed(2)} s`);
  say("  processor time", `${((processorMs() - usedBefore) / 1000).toFixed(2)} s`);

  const before = collect();
  const alive = [];
  for (let i = 0; i < FORKS; i++) alive.push(await cp.fork());
  const megabytes = (collect() - before) / FORKS;
  say(`${FORKS.toLocaleString("en")} forks alive, memory each`, `${(megabytes * 1024).toFixed(0)} KB`);
  const one = alive[FORKS / 2];
  await one?.fetch(read);
  const [requestMs] = await timed(async () => (await one?.fetch(read))?.text());
  say("  a request in one of them", `${requestMs.toFixed(2)} ms`);
  await Promise.all(alive.map((fork) => fork.close()));
}

await first();
await further();
await forks();
