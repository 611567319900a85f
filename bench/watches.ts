import path from "node:path";
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
  startBuilt,
  token,
} from "./support.ts";
import { createPod, createPods, type Delivery, deliver, openPodWatchers, revisionOf } from "./support-deliveries.ts";
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

const WARM_UP = 1500;
/** Watches of which none selects the Pods that are created. Those of another kind show what open streams cost. */
const SELECTORS: Readonly<Record<string, string>> = {
  "another kind": "configmaps?watch=1",
  "spec.nodeName=node-N": "pods?watch=1&fieldSelector=spec.nodeName%3Dnode-{n}",
  "app=app-N": "pods?watch=1&labelSelector=app%3Dapp-of-{n}",
  "metadata.name=pod-N in a namespace": "namespaces/bench-0/pods?watch=1&fieldSelector=metadata.name%3Dpod-of-{n}",
};

/**
 * The cost of creating a Pod with 10,000 watches that select others. Creates go in turns to this server and to another
 * one without watches on the same etcd, so that the load of the machine affects both alike.
 */
async function selectors(arena: Arena, program: string): Promise<void> {
  const turns = Number(process.env.BENCH_TURNS ?? 20);
  const rows: string[][] = [];
  const other = await startBuilt(arena.etcdEndpoint, path.join(arena.certificateDirectory, "other"));
  try {
    const chosen = Object.entries(SELECTORS).filter(([what]) => what.startsWith(process.env.BENCH_SELECTOR ?? ""));
    for (const [what, query] of [["no watches", ""], ...chosen] as const) {
      const watchers = query === "" ? undefined : await openSelectors(program, arena.binnacle, query);
      try {
        // Until the objects of the watches are in the old generation of the heap.
        for (const server of [arena.binnacle, other]) await createPods(server, WARM_UP);
        const watched: number[] = [];
        const alone: number[] = [];
        for (let turn = 0; turn < turns; turn++) {
          if (turn % 2 === 0) watched.push(await createPods(arena.binnacle, 100));
          alone.push(await createPods(other, 100));
          if (turn % 2 === 1) watched.push(await createPods(arena.binnacle, 100));
        }
        const isDelivered = query.includes("nodeName");
        if (isDelivered) await createPod(clientFor(arena.binnacle.base, token), "bench-0", 1, "node-42");
        await watchers?.expectTotal(isDelivered ? 1 : 0);
        const ratios = watched.map((cost, turn) => cost / (alone[turn] ?? Number.NaN));
        rows.push([what, mean(alone).toFixed(0), mean(watched).toFixed(0), (mean(watched) / mean(alone)).toFixed(2)]);
        rows.at(-1)?.push(median(ratios).toFixed(2));
        say(rows.at(-1)?.join(" ") ?? "");
      } finally {
        await watchers?.close();
      }
      await sleep(1000);
    }
  } finally {
    await other.kill();
  }
  printTable([["10,000 watches", "CPU µs per create without", "with", "ratio", "median ratio of a turn"], ...rows]);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

async function openSelectors(program: string, server: Contestant, query: string) {
  const revision = await revisionOf(clientFor(server.base, token));
  const paths = [`/api/v1/${query}&resourceVersion=${revision}`];
  const watchers = await openWatchers(program, server, { ...MANY, paths });
  await watchers.expect(1);
  const expectTotal = async (events: number) => {
    for (let i = 0; i < 100 && (await watchers.report()).events < events; i++) await sleep(50);
    const { events: seen } = await watchers.report();
    if (seen !== events) throw new Error(`${seen} events instead of ${events}`);
  };
  return { expectTotal, close: () => watchers.close() };
}

/** The cost of a delivery by the number of watchers: what creating Pods costs more than without watchers. */
async function sizes(server: Contestant, program: string): Promise<void> {
  const plans = [
    { connections: 10, streams: 10, creates: 500 },
    { connections: 10, streams: 100, creates: 200 },
    { connections: 100, streams: 100, creates: 40 },
  ];
  const client = clientFor(server.base, token);
  const costs = plans.map((): number[] => []);
  await createPods(server, 500);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { creates, ...many }] of plans.entries()) {
      const alone = await createPods(server, 500);
      const paths = [`/api/v1/pods?watch=1&resourceVersion=${await revisionOf(client)}`];
      const watchers = await openWatchers(program, server, { ...many, paths });
      try {
        const warm = await deliver(server, watchers, 10);
        const { cpuMicroseconds, seen } = await deliver(server, watchers, creates);
        if (seen.wrong + warm.seen.wrong > 0) throw new Error(`${seen.wrong} watchers have lost events`);
        costs[at]?.push(cpuMicroseconds - alone / seen.watchers);
      } finally {
        await watchers.close();
      }
      await sleep(500);
    }
  }
  const rows = plans.map(({ connections, streams }, i) => [
    String(connections * streams),
    median(costs[i] ?? []).toFixed(1),
    (costs[i] ?? []).map((cost) => cost.toFixed(1)).join(", "),
  ]);
  printTable([["watchers", "CPU µs per event and watcher, without the create", "each round"], ...rows]);
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
    if (parts.length === 0 || parts.includes("selectors")) await selectors(arena, program);
    if (parts.length === 0 || parts.includes("sizes")) await sizes(arena.binnacle, program);
    const memory = [arena.binnacle, ...(arena.kubeApiserver ? [arena.kubeApiserver] : [])];
    for (const server of memory) say(`${server.name}: ${(await residentMegabytes(server.pid)).toFixed(0)} MB`);
  } finally {
    await arena.close();
    await remove();
  }
}

await main();
