import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { clientFor } from "../test/support/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { startOracle } from "../test/support/oracle.ts";
import { type Contestant, childPid, describeMachine, median, printTable, say, startBuilt, token } from "./support.ts";
import { type LoadResult, loadCreates } from "./support-load.ts";
import { podBody, storedBytes } from "./support-pods.ts";

/**
 * Pods created through all default admission, by Binnacle and by the real kube-apiserver, and bare etcd transactions of
 * the same size: in turn, each on an etcd of its own, so that none has to follow what the others write.
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
/** How long each server works before it is measured: what has just been started is not compiled yet. */
const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 20);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 32);
const isDurable = process.env.BENCH_UNSAFE === undefined;
const isAlone = process.env.BENCH_ALONE !== undefined;
const run = promisify(execFile);

/** A namespace with the service account that Pods get; controllers may be making the same. */
async function prepare({ name, base }: Contestant): Promise<void> {
  const client = clientFor(base, token);
  await client.call("POST", "/api/v1/namespaces", { metadata: { name: "bench" } });
  await sleep(500);
  const account = { metadata: { name: "default" } };
  const { status } = await client.call("POST", "/api/v1/namespaces/bench/serviceaccounts", account);
  if (status !== 201 && status !== 409) throw new Error(`${name}: service account: ${status}`);
}

function createPods(server: Contestant, seconds = SECONDS): Promise<LoadResult> {
  const body = JSON.stringify(podBody("pod-@"));
  const target = "/api/v1/namespaces/bench/pods";
  return loadCreates(server, { path: target, body, connections: CONNECTIONS, seconds });
}

async function bareTransactions(endpoint: string, bytes: number): Promise<number> {
  const program = path.join(import.meta.dirname, "support-bare-etcd.ts");
  const args = [program, endpoint, String(bytes), String(CONNECTIONS), String(SECONDS)];
  return Number((await run(process.execPath, args)).stdout);
}

async function main(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  try {
    const etcds: string[] = [];
    for (let i = 0; i < 3; i++) {
      const etcd = await startEtcd({ isDurable, arguments: ["--quota-backend-bytes", String(8 * 2 ** 30)] });
      cleanUps.push(() => etcd.stop());
      etcds.push(etcd.endpoints[0] ?? "");
    }
    const [own = "", theirs = "", bare = ""] = etcds;
    const binnacle = await startBuilt(own, directory);
    cleanUps.push(() => binnacle.kill());
    const servers: Contestant[] = [binnacle];
    if (!isAlone) {
      const oracle = await startOracle({ etcdEndpoint: theirs });
      cleanUps.push(() => oracle.kill());
      servers.push({ name: "kube-apiserver", base: oracle.base, pid: await childPid("kube-apiserver") });
    }
    for (const server of servers) await prepare(server);
    const bytes = await storedBytes(own, binnacle.base, "bench");

    const rates = new Map<string, number[]>();
    const note = (name: string, rate: number, rest = "") => {
      rates.set(name, [...(rates.get(name) ?? []), rate]);
      say(`${name}: ${rate.toFixed(0)}/s${rest}`);
    };
    for (const server of servers) {
      const { perSecond, cpuMsPerRequest } = await createPods(server, WARM_UP_SECONDS);
      say(`${server.name}, warming up: ${perSecond.toFixed(0)}/s, ${cpuMsPerRequest.toFixed(2)} ms of processor each`);
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers) {
        const { perSecond, cpuMsPerRequest } = await createPods(server);
        note(server.name, perSecond, `, ${cpuMsPerRequest.toFixed(2)} ms of processor each`);
        await sleep(500);
      }
      note("bare etcd transactions", await bareTransactions(bare, bytes));
    }
    const ours = rates.get(binnacle.name) ?? [];
    const rows = [...rates].map(([name, list]) => {
      const ratios = ours.map((rate, i) => rate / (list[i] ?? Number.NaN));
      const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
      return [name, median(list).toFixed(0), name === binnacle.name ? "" : `${median(ratios).toFixed(2)} (${range})`];
    });
    process.stdout.write(
      `${describeMachine()}; ${CONNECTIONS} at a time, ${bytes} bytes stored each, ${isDurable ? "with" : "without"} fsync\n`,
    );
    printTable([["Pods created", "per second", "Binnacle / it"], ...rows]);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

await main();
