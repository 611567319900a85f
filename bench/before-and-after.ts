import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clientFor } from "../test/support/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { measureStartup } from "./startup.ts";
import {
  type Contestant,
  describeMachine,
  median,
  printTable,
  residentMegabytes,
  say,
  startBuilt,
  token,
} from "./support.ts";
import { deliver, openPodWatchers } from "./support-deliveries.ts";
import { loadCreates, loadHttp1, loadHttp2 } from "./support-load.ts";
import { fillPods, podBody } from "./support-pods.ts";
import { buildWatcher } from "./support-watcher.ts";

/**
 * Two builds of Binnacle side by side, in turn: `node bench/before-and-after.ts OTHER/dist/cli.js` compares the build in
 * dist/ with the other one. Each has an etcd of its own with the same Pods. More per second is
 * better; less processor time and memory are.
 */

const PODS = Number(process.env.BENCH_PODS ?? 12_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 20);
const STARTS = Number(process.env.BENCH_STARTS ?? 10);
const namespaces = Array.from({ length: 20 }, (_, i) => `bench-${i}`);

const after = path.join(import.meta.dirname, "..", "dist", "cli.js");
const before = process.argv[2];

/** One measurement of a server: how much it did, and the processor time of each, which other work disturbs less. */
interface Figure {
  readonly perSecond: number;
  readonly cpuMsPerRequest: number;
}
type Work = (server: Contestant) => Promise<Figure>;

function works(watcherProgram: string): Readonly<Record<string, Work>> {
  const http1 =
    (paths: readonly string[], connections: number): Work =>
    (server) =>
      loadHttp1(server, { paths, connections, seconds: SECONDS });
  return {
    "GET of a Pod": http1([`/api/v1/namespaces/${namespaces[0]}/pods/pod-000000`], 8),
    "page of 500, HTTP/1.1": http1(["/api/v1/pods?limit=500"], 4),
    "page of 500, HTTP/2": (server) =>
      loadHttp2(server, { paths: ["/api/v1/pods?limit=500"], connections: 4, seconds: SECONDS }),
    "whole list": http1(["/api/v1/pods"], 1),
    "page of 500, label selector": http1(["/api/v1/pods?limit=500&labelSelector=tier%3Dbackend"], 4),
    "Pods created": (server) => createPods(server, SECONDS),
    "deliveries to 1,000 watchers": async (server) => {
      const watchers = await openPodWatchers(watcherProgram, server);
      try {
        const { perSecond, cpuMicroseconds } = await deliver(server, watchers);
        return { perSecond, cpuMsPerRequest: cpuMicroseconds / 1000 };
      } finally {
        await watchers.close();
      }
    },
  };
}

function createPods(server: Contestant, seconds: number): Promise<Figure> {
  const body = JSON.stringify(podBody("pod-@"));
  const target = "/api/v1/namespaces/created/pods";
  return loadCreates(server, { path: target, body, connections: 32, seconds });
}

async function prepare({ base }: Contestant): Promise<void> {
  const client = clientFor(base, token);
  await client.call("POST", "/api/v1/namespaces", { metadata: { name: "created" } });
  for (const namespace of ["created", ...namespaces]) {
    await client.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "default" } });
  }
}

/** Medians of both, and of what the later is of the earlier one in each round. */
function row(what: string, olds: readonly number[], news: readonly number[], digits = 0): string[] {
  const ratios = news.map((one, i) => one / (olds[i] ?? Number.NaN));
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  return [what, median(olds).toFixed(digits), median(news).toFixed(digits), `${median(ratios).toFixed(3)} (${range})`];
}

async function startups(other: string): Promise<string[][]> {
  const figures = { olds: [] as number[], news: [] as number[], oldIdle: [] as number[], newIdle: [] as number[] };
  for (let round = 0; round < STARTS; round++) {
    const old = await measureStartup(1, other);
    const own = await measureStartup(1, after);
    figures.olds.push(...old.readyMs);
    figures.news.push(...own.readyMs);
    figures.oldIdle.push(old.idleMegabytes);
    figures.newIdle.push(own.idleMegabytes);
  }
  return [
    row("start to ready, ms", figures.olds, figures.news),
    row("idle memory, MB", figures.oldIdle, figures.newIdle),
  ];
}

async function main(other: string): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  try {
    const { program, remove } = await buildWatcher();
    cleanUps.push(remove);
    const rows = await startups(other);
    const servers: Contestant[] = [];
    for (const [name, cli] of [
      ["before", other],
      ["after", after],
    ] as const) {
      const etcd = await startEtcd({ arguments: ["--quota-backend-bytes", String(8 * 2 ** 30)] });
      cleanUps.push(() => etcd.stop());
      const endpoint = etcd.endpoints[0] ?? "";
      const server = await startBuilt(endpoint, path.join(directory, name), cli);
      cleanUps.push(() => server.kill());
      await prepare(server);
      await fillPods(endpoint, server.base, { count: PODS, namespaces });
      servers.push({ ...server, name });
    }
    for (const server of servers) await createPods(server, WARM_UP_SECONDS);
    for (const [what, work] of Object.entries(works(program))) {
      const figures: Record<string, Figure[]> = { before: [], after: [] };
      for (let round = 0; round < ROUNDS; round++) {
        // Whoever comes second profits or suffers from what the first left behind: they take turns at that, too.
        for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
          figures[server.name]?.push(await work(server));
          await sleep(300);
        }
      }
      const { before: olds = [], after: news = [] } = figures;
      const pick = (list: readonly Figure[], member: keyof Figure) => list.map((one) => one[member]);
      rows.push(row(`${what}, per second`, pick(olds, "perSecond"), pick(news, "perSecond")));
      rows.push(row(`${what}, processor ms`, pick(olds, "cpuMsPerRequest"), pick(news, "cpuMsPerRequest"), 4));
      for (const one of rows.slice(-2)) say(one.join("  "));
    }
    const [old, own] = servers;
    if (old && own) {
      rows.push(row("memory afterwards, MB", [await residentMegabytes(old.pid)], [await residentMegabytes(own.pid)]));
    }
    process.stdout.write(`${describeMachine()}; ${PODS} Pods, ${ROUNDS} rounds\n`);
    printTable([["work", "before", "after", "after / before"], ...rows]);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

if (before === undefined) throw new Error("name the other build: node bench/before-and-after.ts OTHER/dist/cli.js");
await main(path.resolve(before));
