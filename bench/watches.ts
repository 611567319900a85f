import { setTimeout as sleep } from "node:timers/promises";
import { type Client, clientFor } from "../test/support/client.ts";
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
import { fillPods, podBody } from "./support-pods.ts";
import { buildWatcher, openWatchers, type Seen, type Watchers } from "./support-watcher.ts";

const PODS = Number(process.env.BENCH_PODS ?? 12_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CREATES = 200;
/** How many creates are on their way at a time. */
const CONCURRENCY = Number(process.env.BENCH_CONCURRENCY ?? 8);
const WATCHERS = { connections: 10, streams: 100 };
const MANY = { connections: 100, streams: 100 };
const namespaces = Array.from({ length: 100 }, (_, i) => `bench-${i}`);

let names = 0;

/** Creates a marked Pod; its mark carries its number and the time of sending. */
async function createPod(client: Client, namespace: string, number: number): Promise<void> {
  const sent = Math.round((performance.timeOrigin + performance.now()) * 1000);
  const body = podBody(`marked-${names++}`, { "bench/mark": `${number}-${sent}` });
  const { status, body: answer } = await client.call("POST", `/api/v1/namespaces/${namespace}/pods`, body);
  if (status !== 201) throw new Error(`create: ${status} ${JSON.stringify(answer)}`);
}

async function revisionOf(client: Client): Promise<string> {
  const { body } = await client.call("GET", "/api/v1/pods?limit=1");
  return body.metadata.resourceVersion;
}

interface Delivery {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly watcherCpuMicroseconds: number;
  readonly seen: Seen;
}

/** Creates Pods, some at a time, and counts how fast they reach 1,000 watchers. */
async function deliver(server: Contestant, watchers: Watchers): Promise<Delivery> {
  const client = clientFor(server.base, token);
  await watchers.expect(CREATES);
  const done = watchers.done(120_000);
  const cpuBefore = await cpuMs(server.pid);
  const watcherBefore = await cpuMs(watchers.pid);
  const began = performance.now();
  let next = 1;
  const create = async () => {
    while (next <= CREATES) await createPod(client, "bench-0", next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, create));
  const created = performance.now() - began;
  const seen = await done;
  const seconds = (performance.now() - began) / 1000;
  const cpu = (await cpuMs(server.pid)) - cpuBefore;
  const watcherCpu = (await cpuMs(watchers.pid)) - watcherBefore;
  const result = {
    perSecond: seen.events / seconds,
    cpuMicroseconds: (cpu * 1000) / seen.events,
    watcherCpuMicroseconds: (watcherCpu * 1000) / seen.events,
    seen,
  };
  say(
    `${server.name}: ${result.perSecond.toFixed(0)} deliveries/s (creates took ${created.toFixed(0)} ms of ${(seconds * 1000).toFixed(0)})`,
  );
  return result;
}

async function compare(arena: Arena, program: string): Promise<void> {
  const servers = [arena.binnacle, ...(arena.kubeApiserver ? [arena.kubeApiserver] : [])];
  const results = new Map<Contestant, Delivery[]>(servers.map((server) => [server, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers) {
      const revision = await revisionOf(clientFor(server.base, token));
      const paths = [`/api/v1/pods?watch=1&resourceVersion=${revision}`];
      const watchers = await openWatchers(program, server, { ...WATCHERS, paths });
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
