import { setTimeout as sleep } from "node:timers/promises";
import { clientFor } from "../test/support/client.ts";
import {
  type Arena,
  type Contestant,
  cpuMs,
  describeMachine,
  median,
  openArena,
  printTable,
  residentMegabytes,
  say,
  token,
} from "./support.ts";
import { createPod, type Delivery, deliver, openPodWatchers, revisionOf } from "./support-deliveries.ts";
import { fillPods } from "./support-pods.ts";
import { buildWatcher, openWatchers, type Seen } from "./support-watcher.ts";

const PODS = Number(process.env.BENCH_PODS ?? 12_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const MANY = { connections: 100, streams: 100 };
const namespaces = Array.from({ length: 100 }, (_, i) => `bench-${i}`);

async function compare(arena: Arena, program: string): Promise<void> {
  const servers = [arena.binnacle, ...(arena.kubeApiserver ? [arena.kubeApiserver] : [])];
  const results = new Map<Contestant, Delivery[]>(servers.map((server) => [server, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers) {
      const watchers = await openPodWatchers(program, server);
      try {
        results.get(server)?.push(await deliver(server, watchers));
      } finally {
        await watchers.close();
      }
      await sleep(500);
    }
  }
  const own = results.get(arena.binnacle) ?? [];
  const rows = [...results].map(([server, list]) => {
    const ratios = own.map((one, i) => one.perSecond / (list[i]?.perSecond ?? Number.NaN));
    return [
      server.name,
      median(list.map((one) => one.perSecond)).toFixed(0),
      median(list.map((one) => one.cpuMicroseconds)).toFixed(1),
      median(list.map((one) => one.watcherCpuMicroseconds)).toFixed(1),
      median(list.map((one) => one.seen.p99Ms)).toFixed(0),
      String(list.reduce((sum, one) => sum + one.seen.wrong, 0)),
      server === arena.binnacle ? "" : median(ratios).toFixed(2),
    ];
  });
  printTable([
    [
      "server",
      "deliveries/s",
      "CPU µs each",
      "client's CPU µs each",
      "p99 ms",
      "watchers with losses",
      "Binnacle / it",
    ],
    ...rows,
  ]);
}

interface ManyResult {
  readonly seen: Seen;
  readonly kilobytesPerWatcher: number;
  readonly cpuShare: number;
  readonly rate: number;
}

/** Opens 10,000 watches and creates Pods at a steady rate, in each of the given namespaces in turn. */
async function watchMany(
  server: Contestant,
  program: string,
  options: { paths: readonly string[]; into: readonly string[]; perSecond: number; seconds: number },
): Promise<ManyResult> {
  const client = clientFor(server.base, token);
  const before = await residentMegabytes(server.pid);
  const revision = await revisionOf(client);
  const paths = options.paths.map((path) => `${path}?watch=1&resourceVersion=${revision}`);
  const watchers = await openWatchers(program, server, { ...MANY, paths });
  try {
    const each = (options.perSecond * options.seconds) / options.into.length;
    await watchers.expect(each);
    const done = watchers.done(options.seconds * 1000 + 60_000);
    const cpuBefore = await cpuMs(server.pid);
    const began = performance.now();
    const open: Promise<void>[] = [];
    for (let i = 0; i < options.perSecond * options.seconds; i++) {
      const wait = began + (i * 1000) / options.perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      const namespace = options.into[i % options.into.length] ?? "";
      open.push(createPod(client, namespace, Math.floor(i / options.into.length) + 1));
    }
    await Promise.all(open);
    const created = (performance.now() - began) / 1000;
    const seen = await done.catch(() => watchers.report());
    const elapsed = performance.now() - began;
    const cpuShare = ((await cpuMs(server.pid)) - cpuBefore) / elapsed;
    const grown = (await residentMegabytes(server.pid)) - before;
    return {
      seen,
      kilobytesPerWatcher: (grown * 1024) / seen.watchers,
      cpuShare,
      rate: (each * options.into.length) / created,
    };
  } finally {
    await watchers.close();
  }
}

function manyRow(what: string, { seen, kilobytesPerWatcher, cpuShare, rate }: ManyResult): string[] {
  return [
    what,
    rate.toFixed(0),
    String(seen.events),
    `${seen.fewest}–${seen.most}`,
    String(seen.wrong),
    seen.p50Ms.toFixed(1),
    seen.p99Ms.toFixed(1),
    seen.maxMs.toFixed(0),
    kilobytesPerWatcher.toFixed(1),
    `${(cpuShare * 100).toFixed(0)} %`,
  ];
}

async function many(server: Contestant, program: string): Promise<void> {
  const seconds = Number(process.env.BENCH_SECONDS ?? 60);
  const spread = await watchMany(server, program, {
    paths: namespaces.map((name) => `/api/v1/namespaces/${name}/pods`),
    into: namespaces,
    perSecond: 100,
    seconds,
  });
  const all = await watchMany(server, program, {
    paths: ["/api/v1/pods"],
    into: namespaces.slice(0, 1),
    perSecond: 4,
    seconds: Math.ceil(seconds / 3),
  });
  printTable([
    [
      "10,000 watchers",
      "events/s",
      "deliveries",
      "events per watcher",
      "watchers with losses",
      "p50 ms",
      "p99 ms",
      "max ms",
      "KB per watcher",
      "CPU",
    ],
    manyRow("100 in each of 100 namespaces, every event to 100", spread),
    manyRow("all on all namespaces, every event to 10,000", all),
  ]);
}

async function main(): Promise<void> {
  const parts = process.argv.slice(2);
  const isAlone = process.env.BENCH_ALONE !== undefined;
  const { program, remove } = await buildWatcher();
  const arena = await openArena({
    withKubeApiserver: !isAlone,
    fill: async (etcdEndpoint, base) => {
      if (base) await fillPods(etcdEndpoint, base, { count: PODS, namespaces });
    },
  });
  try {
    if (isAlone) await fillPods(arena.etcdEndpoint, arena.binnacle.base, { count: PODS, namespaces });
    process.stdout.write(`${describeMachine()}; ${PODS} Pods\n`);
    if (parts.length === 0 || parts.includes("compare")) await compare(arena, program);
    if (parts.length === 0 || parts.includes("many")) await many(arena.binnacle, program);
    const memory = [arena.binnacle, ...(arena.kubeApiserver ? [arena.kubeApiserver] : [])];
    for (const server of memory) say(`${server.name}: ${(await residentMegabytes(server.pid)).toFixed(0)} MB`);
  } finally {
    await arena.close();
    await remove();
  }
}

await main();
