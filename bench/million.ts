import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { defaultConfig } from "../src/config.ts";
import { builtInKinds } from "../src/kinds/all.ts";
import { systemClock } from "../src/lib/clock.ts";
import { Catalog } from "../src/resources/catalog.ts";
import { KeySpace } from "../src/resources/keys.ts";
import { encodeObject } from "../src/resources/object-view.ts";
import { Resources } from "../src/resources/resources.ts";
import { startServer } from "../src/server.ts";
import { MemoryStore } from "../src/storage/memory.ts";

/** A million ConfigMaps of 1 KB in the memory store: what it takes to put them there and to read them over HTTPS. */

const OBJECTS = Number(process.env.OBJECTS ?? 1_000_000);
const PER_NAMESPACE = 1000;
const GETS = 20_000;
const IN_FLIGHT = 8;

const store = new MemoryStore();
const catalog = new Catalog(builtInKinds());
const resources = new Resources({ store, catalog, clock: systemClock, keys: new KeySpace(defaultConfig.etcdPrefix) });
const kind = catalog.find("", "v1", "configmaps");
if (!kind) throw new Error("configmaps are not served");
const { definition } = kind;
const data = { text: "x".repeat(700) };

/** Through the collection, as a write of the API does it, without HTTP. */
async function insertAll(): Promise<number> {
  const began = performance.now();
  const collection = resources.collection(kind as NonNullable<typeof kind>);
  for (let count = 0; count < OBJECTS; count += 1) {
    const namespace = `ns-${Math.floor(count / PER_NAMESPACE)}`;
    const metadata = { name: `object-${count % PER_NAMESPACE}`, namespace };
    await collection.create(
      kind as NonNullable<typeof kind>,
      { kind: "ConfigMap", apiVersion: "v1", metadata, data },
      {},
    );
    if (count % 5000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return performance.now() - began;
}

const megabytes = () => process.memoryUsage().rss / 1024 / 1024;
const before = megabytes();
const ms = await insertAll();
const size = encodeObject({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "object-1", namespace: "ns-1" },
  data,
}).length;
const lines = [`inserted ${OBJECTS} objects of about ${size + 150} bytes: ${Math.round(OBJECTS / (ms / 1000))}/s`];
lines.push(`resident memory: ${before.toFixed(0)} MB before, ${megabytes().toFixed(0)} MB after`);

const directory = await mkdtemp(path.join(tmpdir(), "binnacle-million-"));
const server = await startServer(
  { ...defaultConfig, certDir: directory, securePort: 0, insecurePort: 0, controllers: "none" },
  store,
);
const { token } = server;
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT, rejectUnauthorized: false });

function read(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = httpsRequest(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${response.statusCode}`)),
      );
    });
    call.on("error", reject);
    call.end();
  });
}

const times: number[] = [];
async function reader(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const at = Math.floor(Math.random() * OBJECTS);
    const namespace = `ns-${Math.floor(at / PER_NAMESPACE)}`;
    const began = performance.now();
    await read(`${server.url}/api/v1/namespaces/${namespace}/configmaps/object-${at % PER_NAMESPACE}`);
    times.push(performance.now() - began);
  }
}
await Promise.all(Array.from({ length: IN_FLIGHT }, () => reader(GETS / IN_FLIGHT)));
times.sort((a, b) => a - b);
const quantile = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2);
lines.push(`GET, ${IN_FLIGHT} in flight: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`);

const lists: number[] = [];
for (let count = 0; count < 20; count += 1) {
  const began = performance.now();
  await read(`${server.url}/api/v1/namespaces/ns-${count * 7}/configmaps`);
  lists.push(performance.now() - began);
}
lists.sort((a, b) => a - b);
lines.push(`list of one namespace of ${PER_NAMESPACE}: ${lists[10]?.toFixed(1)} ms (median of 20)`);
lines.push(`resident memory at the end: ${megabytes().toFixed(0)} MB; kind ${definition.kind}`);
process.stdout.write(`${lines.join("\n")}\n`);
agent.destroy();
await server.close();
await rm(directory, { recursive: true, force: true });
