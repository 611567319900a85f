import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Client, clientFor } from "../test/support/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { startOracle } from "../test/support/oracle.ts";
import {
  type Contestant,
  childPid,
  cpuMs,
  describeMachine,
  percentile,
  printTable,
  residentMegabytes,
  say,
  startBuilt,
  token,
} from "./support.ts";

/**
 * Many large CustomResourceDefinitions at once: how long until all are served and published, what a client that reads a
 * small object meanwhile notices, and what the server holds afterwards. One server after the other, each on an etcd of its own.
 */

const COUNT = Number(process.env.BENCH_COUNT ?? 500);
const KILOBYTES = Number(process.env.BENCH_KILOBYTES ?? 100);
const AT_ONCE = 4;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const READ = "/api/v1/namespaces/default/configmaps/read";
const PAUSE_MS = 10;
const LIMIT_MS = 300_000;

const groupOf = (number: number): string => `g${number % 50}.bench.example.com`;

/** A definition with many described fields, lists of maps and some rules, as large as those of real projects. */
function definition(number: number): object {
  const field = (index: number) => ({
    type: "object",
    description: `Field ${index} of kind ${number}: ${"what it does, and when one would set it. ".repeat(6)}`,
    properties: {
      name: { type: "string", maxLength: 63, pattern: "^[a-z0-9-]*$", description: "A name that must be unique." },
      count: { type: "integer", format: "int32", minimum: 0, default: index, description: "How many there are." },
      modes: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        maxItems: 8,
        items: {
          type: "object",
          required: ["type"],
          properties: { type: { type: "string", enum: ["A", "B"] }, value: { type: "string", maxLength: 32 } },
        },
      },
    },
    ...(index % 25 === 0 && {
      "x-kubernetes-validations": [{ rule: "!has(self.name) || self.name != 'x'", message: "not x" }],
    }),
  });
  const properties: Record<string, object> = {};
  for (let index = 0, size = 0; size < KILOBYTES * 1000; index++) {
    const one = field(index);
    properties[`field${index}`] = one;
    size += JSON.stringify(one).length + 12;
  }
  const plural = `kind${number}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${groupOf(number)}` },
    spec: {
      group: groupOf(number),
      scope: "Namespaced",
      names: { plural, kind: `Kind${number}` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
        },
      ],
    },
  };
}

/** Calls until the answer is as wanted; the time that it took from `began`. */
async function until(began: number, isDone: () => Promise<boolean>): Promise<number> {
  while (!(await isDone())) {
    if (performance.now() - began > LIMIT_MS) return Number.NaN;
    await sleep(200);
  }
  return performance.now() - began;
}

async function createAll(client: Client): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < COUNT) {
      const body = definition(next++);
      const { status, body: answer } = await client.call("POST", DEFINITIONS, body);
      if (status !== 201) throw new Error(`create: ${status} ${JSON.stringify(answer).slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

interface Figures {
  readonly createdMs: number;
  readonly servedMs: number;
  readonly v3Ms: number;
  readonly v2Ms: number;
  readonly reads: readonly number[];
  readonly memory: number;
  readonly peak: number;
  readonly cpu: number;
}

/** What the reading thread has seen. */
interface Seen {
  readonly reads: number[];
  readonly peak: number;
}

/** Reads a small object again and again until the other thread says so. */
async function readOn({ base, pid }: Contestant): Promise<void> {
  const client = clientFor(base, token);
  const seen = { reads: [] as number[], peak: 0 };
  let isEnded = false;
  parentPort?.once("message", () => {
    isEnded = true;
  });
  while (!isEnded) {
    const began = performance.now();
    await client.call("GET", READ);
    seen.reads.push(performance.now() - began);
    seen.peak = Math.max(seen.peak, await residentMegabytes(pid));
    await sleep(PAUSE_MS);
  }
  parentPort?.postMessage(seen);
}

async function measure(server: Contestant): Promise<Figures> {
  const client = clientFor(server.base, token);
  await until(performance.now(), async () => {
    const { status } = await client.call("POST", READ.slice(0, READ.lastIndexOf("/")), { metadata: { name: "read" } });
    return status === 201;
  });
  // In a thread of its own: parsing the documents of OpenAPI would hold up the reader, too.
  const reader = new Worker(import.meta.filename, {
    workerData: { name: server.name, base: server.base, pid: server.pid },
  });
  const cpuBefore = await cpuMs(server.pid);
  const began = performance.now();
  await createAll(client);
  const createdMs = performance.now() - began;
  say(`${server.name}: created after ${(createdMs / 1000).toFixed(1)} s`);
  let unserved = Array.from({ length: COUNT }, (_, number) => number);
  const servedMs = await until(began, async () => {
    const found: number[] = [];
    for (const number of unserved) {
      const place = `/apis/${groupOf(number)}/v1/namespaces/default/kind${number}s`;
      if ((await client.call("GET", place)).status !== 200) found.push(number);
    }
    unserved = found;
    return found.length === 0;
  });
  say(`${server.name}: served after ${(servedMs / 1000).toFixed(1)} s`);
  const v3Ms = await until(began, async () => {
    let kinds = 0;
    for (let group = 0; group < Math.min(50, COUNT); group++) {
      const { status, body } = await client.call("GET", `/openapi/v3/apis/${groupOf(group)}/v1`);
      if (status !== 200) return false;
      kinds += Object.keys(body.components.schemas).filter((name) => /\.Kind\d+$/.test(name)).length;
    }
    return kinds === COUNT;
  });
  say(`${server.name}: in OpenAPI v3 after ${(v3Ms / 1000).toFixed(1)} s`);
  const v2Ms = await until(began, async () => {
    const { body } = await client.call("GET", "/openapi/v2");
    return Object.keys(body.definitions).filter((name) => /\.Kind\d+$/.test(name)).length === COUNT;
  });
  say(`${server.name}: in OpenAPI v2 after ${(v2Ms / 1000).toFixed(1)} s`);
  await sleep(3000);
  reader.postMessage("end");
  const [seen] = (await once(reader, "message")) as [Seen];
  await reader.terminate();
  const cpu = (await cpuMs(server.pid)) - cpuBefore;
  return { createdMs, servedMs, v3Ms, v2Ms, ...seen, memory: await residentMegabytes(server.pid), cpu };
}

async function main(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const rows: string[][] = [];
  const note = (name: string, { createdMs, servedMs, v3Ms, v2Ms, reads, memory, peak, cpu }: Figures) => {
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const reading = [0.5, 0.99, 1].map((share) => percentile(reads, share).toFixed(1)).join(" / ");
    const times = [createdMs, servedMs, v3Ms, v2Ms, cpu].map(seconds);
    rows.push([name, ...times, reading, memory.toFixed(0), peak.toFixed(0)]);
  };
  try {
    const run = async (start: (endpoint: string) => Promise<Contestant & { kill(): Promise<void> }>) => {
      const etcd = await startEtcd({ arguments: ["--quota-backend-bytes", String(4 * 2 ** 30)] });
      try {
        const server = await start(etcd.endpoints[0] ?? "");
        try {
          note(server.name, await measure(server));
        } finally {
          await server.kill();
        }
      } finally {
        await etcd.stop();
      }
    };
    await run((endpoint) => startBuilt(endpoint, directory));
    if (process.env.BENCH_ALONE === undefined) {
      await run(async (etcdEndpoint) => {
        const oracle = await startOracle({ etcdEndpoint });
        const pid = await childPid("kube-apiserver");
        return { name: "kube-apiserver", base: oracle.base, pid, kill: () => oracle.kill() };
      });
    }
    process.stdout.write(`${describeMachine()}; ${COUNT} definitions of ${KILOBYTES} KB, ${AT_ONCE} at a time\n`);
    const head = ["created", "served", "OpenAPI v3", "OpenAPI v2", "processor"].map((what) => `${what}, s`);
    printTable([["server", ...head, "GET p50 / p99 / max, ms", "memory, MB", "most"], ...rows]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

if (isMainThread) await main();
else await readOn(workerData);
