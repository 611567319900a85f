import { clientFor } from "../test/support/client.ts";
import {
  type Contestant,
  describeMachine,
  median,
  openArena,
  printTable,
  residentMegabytes,
  say,
  startBare,
  token,
} from "./support.ts";
import { type LoadResult, loadHttp1, loadHttp2 } from "./support-load.ts";
import { fillPods } from "./support-pods.ts";

const PODS = Number(process.env.BENCH_PODS ?? 12_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const PAGE = 500;
const namespaces = Array.from({ length: 20 }, (_, i) => `bench-${i}`);

/** Addresses of all pages of one list, each server's own. */
async function pagePaths({ base }: Contestant): Promise<{ paths: string[]; pageBytes: number }> {
  const client = clientFor(base, token);
  const first = `/api/v1/pods?limit=${PAGE}`;
  const paths = [first];
  let pageBytes = 0;
  for (let path = first; path !== ""; ) {
    const { body, status } = await client.call("GET", path);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    if (body.items.length === PAGE) pageBytes = JSON.stringify(body).length + 1;
    const next: string = body.metadata.continue ?? "";
    path = next === "" ? "" : `${first}&continue=${encodeURIComponent(next)}`;
    if (path !== "") paths.push(path);
  }
  return { paths, pageBytes };
}

type Results = Map<string, LoadResult[]>;

/** Loads the contestants in turn, round after round, so that what else the machine does hits all alike. */
async function compare(
  contestants: readonly { server: Contestant; paths: readonly string[] }[],
  load: (server: Contestant, paths: readonly string[]) => Promise<LoadResult>,
): Promise<Results> {
  const results: Results = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { server, paths } of contestants) {
      const result = await load(server, paths);
      results.set(server.name, [...(results.get(server.name) ?? []), result]);
      say(
        `${server.name}: ${result.perSecond.toFixed(1)}/s, ${result.cpuMsPerRequest.toFixed(2)} ms of processor each`,
      );
    }
  }
  return results;
}

function rows(what: string, results: Results, name = "Binnacle"): string[][] {
  const own = results.get(name) ?? [];
  return [...results].map(([other, theirs]) => {
    const ratios = own.map((result, i) => result.perSecond / (theirs[i]?.perSecond ?? Number.NaN));
    return [
      what,
      other,
      median(theirs.map((one) => one.perSecond)).toFixed(1),
      median(theirs.map((one) => one.megabytesPerSecond)).toFixed(0),
      median(theirs.map((one) => one.cpuMsPerRequest)).toFixed(2),
      other === name
        ? ""
        : `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    ];
  });
}

async function main(): Promise<void> {
  const withKubeApiserver = process.env.BENCH_ALONE === undefined;
  let podBytes = 0;
  const arena = await openArena({
    withKubeApiserver,
    fill: async (etcdEndpoint, base) => {
      if (base) podBytes = await fillPods(etcdEndpoint, base, { count: PODS, namespaces });
    },
  });
  try {
    if (!arena.kubeApiserver) {
      podBytes = await fillPods(arena.etcdEndpoint, arena.binnacle.base, { count: PODS, namespaces });
    }
    const { binnacle, kubeApiserver } = arena;
    const own = await pagePaths(binnacle);
    const bare = await startBare(arena.certificateDirectory);
    const contestants = [
      { server: bare, paths: [`/${own.pageBytes}`] },
      { server: binnacle, paths: own.paths },
      ...(kubeApiserver ? [{ server: kubeApiserver, paths: (await pagePaths(kubeApiserver)).paths }] : []),
    ];
    const options = { connections: 4, seconds: SECONDS };
    const table = [["work", "server", "per second", "MB/s", "CPU ms each", "Binnacle / it"]];
    const pages1 = await compare(contestants, (server, paths) => loadHttp1(server, { ...options, paths }));
    table.push(...rows("page of 500, HTTP/1.1", pages1));
    const pages2 = await compare(contestants, (server, paths) => loadHttp2(server, { ...options, paths }));
    table.push(...rows("page of 500, HTTP/2", pages2));
    const full = await compare(contestants.slice(1), (server) =>
      loadHttp1(server, { connections: 1, seconds: SECONDS, paths: ["/api/v1/pods"] }),
    );
    table.push(...rows(`all ${PODS}, one client`, full));
    const memory = [];
    for (const { server } of contestants.slice(1))
      memory.push([server.name, `${(await residentMegabytes(server.pid)).toFixed(0)} MB`]);
    process.stdout.write(
      `${describeMachine()}; ${PODS} Pods of ${podBytes} bytes stored, pages of ${own.pageBytes} bytes\n`,
    );
    printTable(table);
    printTable([["resident memory afterwards", ""], ...memory]);
    await bare.kill();
  } finally {
    await arena.close();
  }
}

await main();
