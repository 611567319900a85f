import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemEnvironment } from "../src/base/log/system-environment.ts";
import { systemClock } from "../src/base/util/clock.ts";
import { systemRandom } from "../src/base/util/random.ts";
import { builtInKinds } from "../src/kinds/built-in/all.ts";
import { defaultConfig } from "../src/programs/server/config.ts";
import { startServer } from "../src/programs/server/server.ts";
import { Catalog } from "../src/resources/model/catalog.ts";
import { Draft } from "../src/resources/model/draft.ts";
import { KeySpace } from "../src/resources/model/keys.ts";
import { Resources } from "../src/resources/resources.ts";
import { MemoryStore } from "../src/storage/memory.ts";

/** A million ConfigMaps of 1 KB in the memory store: what it takes to put them there and to read them over HTTPS. */

const OBJECTS = Number(process.env.OBJECTS ?? 1_000_000);
const PER_NAMESPACE = 1000;

const store = new MemoryStore();
const catalog = new Catalog(builtInKinds());
const resources = new Resources({
  store,
  catalog,
  clock: systemClock,
  random: systemRandom,
  keys: new KeySpace(defaultConfig.etcdPrefix),
});
const kind = catalog.find("", "v1", "configmaps");
if (!kind) throw new Error("configmaps are not served");
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
      new Draft({ kind: "ConfigMap", apiVersion: "v1", metadata, data }),
      {},
    );
    if (count % 5000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return performance.now() - began;
}

const megabytes = () => process.memoryUsage().rss / 1024 / 1024;
const before = megabytes();
const ms = await insertAll();
const size = resources.codec.write({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "object-1", namespace: "ns-1" },
  data,
}).length;
const lines = [`inserted ${OBJECTS} objects of about ${size + 150} bytes: ${Math.round(OBJECTS / (ms / 1000))}/s`];
lines.push(`resident memory: ${before.toFixed(0)} MB before, ${megabytes().toFixed(0)} MB after`);

const directory = await mkdtemp(path.join(tmpdir(), "binnacle-million-"));
const server = await startServer(
  { ...defaultConfig, certDir: directory, securePort: 0, controllers: "none" },
  systemEnvironment(),
  { store },
);
const reader = spawn(process.execPath, [path.join(import.meta.dirname, "million-reader.ts")], {
  stdio: ["ignore", "pipe", "inherit"],
  env: {
    ...process.env,
    READER: JSON.stringify({ url: server.url, token: server.token, objects: OBJECTS, perNamespace: PER_NAMESPACE }),
  },
});
for await (const chunk of reader.stdout.setEncoding("utf8")) lines.push(String(chunk).trimEnd());
lines.push(`resident memory at the end: ${megabytes().toFixed(0)} MB`);
process.stdout.write(`${lines.join("\n")}\n`);
await server.close();
await rm(directory, { recursive: true, force: true });
