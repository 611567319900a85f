import { type Client, clientFor } from "../test/support/client.ts";
import { type Contestant, cpuMs, say, token } from "./support.ts";
import { podBody } from "./support-pods.ts";
import { openWatchers, type Seen, type Watchers } from "./support-watcher.ts";

const CREATES = 200;
/** How many creates are on their way at a time. */
const CONCURRENCY = Number(process.env.BENCH_CONCURRENCY ?? 8);
const WATCHERS = { connections: 10, streams: 100 };

/** Opens 1,000 watches of all Pods from now on. */
export async function openPodWatchers(program: string, server: Contestant): Promise<Watchers> {
  const revision = await revisionOf(clientFor(server.base, token));
  const paths = [`/api/v1/pods?watch=1&resourceVersion=${revision}`];
  return openWatchers(program, server, { ...WATCHERS, paths });
}

let names = 0;

/** Creates a marked Pod; its mark carries its number and the time of sending. */
export async function createPod(client: Client, namespace: string, number: number, nodeName?: string): Promise<void> {
  const sent = Math.round((performance.timeOrigin + performance.now()) * 1000);
  const body = podBody(`marked-${names++}`, { "bench/mark": `${number}-${sent}` }, nodeName);
  const { status, body: answer } = await client.call("POST", `/api/v1/namespaces/${namespace}/pods`, body);
  if (status !== 201) throw new Error(`create: ${status} ${JSON.stringify(answer)}`);
}

/** The present revision of the Pods. */
export async function revisionOf(client: Client): Promise<string> {
  const { body } = await client.call("GET", "/api/v1/pods?limit=1");
  return body.metadata.resourceVersion;
}

/** How fast events reached their watchers, and what each cost. */
export interface Delivery {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly watcherCpuMicroseconds: number;
  readonly seen: Seen;
}

/** Creates Pods, some at a time. Returns the processor time that the server used for each, in microseconds. */
export async function createPods(server: Contestant, count: number): Promise<number> {
  const client = clientFor(server.base, token);
  const cpuBefore = await cpuMs(server.pid);
  await createSome(client, count);
  return (((await cpuMs(server.pid)) - cpuBefore) * 1000) / count;
}

async function createSome(client: Client, count: number): Promise<void> {
  let next = 1;
  const create = async () => {
    while (next <= count) await createPod(client, "bench-0", next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, create));
}

/** Creates Pods, some at a time, and counts how fast they reach all watchers. */
export async function deliver(server: Contestant, watchers: Watchers, creates = CREATES): Promise<Delivery> {
  const client = clientFor(server.base, token);
  await watchers.expect(creates);
  const done = watchers.done(120_000);
  const cpuBefore = await cpuMs(server.pid);
  const watcherBefore = await cpuMs(watchers.pid);
  const began = performance.now();
  await createSome(client, creates);
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
