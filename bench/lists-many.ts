import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Contestant,
  describeMachine,
  openArena,
  percentile,
  printTable,
  residentMegabytes,
  say,
  token,
} from "./support.ts";
import { loadHttp1 } from "./support-load.ts";
import { fillPods } from "./support-pods.ts";

/** Many clients list very many objects at once: what that does to a single read, and to the memory of the server. */

const PODS = Number(process.env.BENCH_PODS ?? 100_000);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const namespaces = Array.from({ length: 100 }, (_, i) => `bench-${i}`);
const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

/** Reads one object and resolves to the milliseconds that took. */
function timeGet({ base }: Contestant): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const path = `/api/v1/namespaces/${namespaces[0]}/pods/pod-000000`;
    const call = request(`${base}${path}`, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET: ${response.statusCode}`));
      response.resume().on("end", () => resolve(performance.now() - began));
    });
    call.on("error", reject);
    call.end();
  });
}

/** Reads again and again until told to stop, and samples memory. */
async function observe(server: Contestant, work: Promise<unknown>): Promise<{ times: number[]; peakMb: number }> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  let peakMb = 0;
  while (!isOver) {
    times.push(await timeGet(server));
    peakMb = Math.max(peakMb, await residentMegabytes(server.pid));
    await sleep(5);
  }
  await end;
  return { times, peakMb };
}

async function measure(server: Contestant, clients: number): Promise<string[]> {
  const before = await residentMegabytes(server.pid);
  let lists = "";
  const work =
    clients === 0
      ? sleep(SECONDS * 500)
      : loadHttp1(server, { connections: clients, seconds: SECONDS, paths: ["/api/v1/pods"] }).then((result) => {
          lists = `${result.perSecond.toFixed(2)}/s, ${result.megabytesPerSecond.toFixed(0)} MB/s`;
        });
  const { times, peakMb } = await observe(server, work);
  say(`${clients} clients: ${times.length} reads`);
  return [
    String(clients),
    lists,
    String(times.length),
    percentile(times, 0.5).toFixed(1),
    percentile(times, 0.99).toFixed(1),
    Math.max(...times).toFixed(0),
    before.toFixed(0),
    (peakMb - before).toFixed(0),
  ];
}

async function main(): Promise<void> {
  let podBytes = 0;
  const arena = await openArena({ withKubeApiserver: false, fill: async () => {} });
  try {
    const { binnacle, etcdEndpoint } = arena;
    podBytes = await fillPods(etcdEndpoint, binnacle.base, { count: PODS, namespaces });
    await sleep(3000);
    const rows = [];
    for (const clients of [0, 1, 10]) rows.push(await measure(binnacle, clients));
    process.stdout.write(`${describeMachine()}; ${PODS} Pods of ${podBytes} bytes, on etcd\n`);
    printTable([
      ["listing clients", "lists", "single reads", "p50 ms", "p99 ms", "max ms", "memory before MB", "growth MB"],
      ...rows,
    ]);
  } finally {
    agent.destroy();
    await arena.close();
  }
}

await main();
