import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { builtInKinds } from "../../src/kinds/all.ts";
import { defaultConfig, type StoreChoice } from "../../src/server/config.ts";
import { startServer } from "../../src/server/server.ts";
import { clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { checkKind } from "./kind-suite.ts";

/** Every stored kind in every version. */
const subjects = builtInKinds()
  .filter((definition) => definition.storage !== undefined)
  .flatMap((definition) => definition.versions.map(({ name }) => ({ definition, version: name })));

type CleanUp = () => Promise<void>;

const stores: Readonly<Record<string, (directory: string, cleanUps: CleanUp[]) => Promise<StoreChoice>>> = {
  memory: async () => ({ type: "memory" }),
  sqlite: async (directory) => ({ type: "sqlite", file: path.join(directory, "store.db") }),
  etcd: async (_, cleanUps) => {
    const etcd = await startEtcd();
    cleanUps.push(() => etcd.stop());
    return { type: "etcd", servers: etcd.endpoints };
  },
};

test("the suite covers the kinds", () => assert.ok(subjects.length > 90, `${subjects.length} kinds in versions`));

for (const [name, open] of Object.entries(stores)) {
  suite(`every kind in every version, on ${name}`, { concurrency: 8, timeout: 120_000 }, () => {
    let running: Awaited<ReturnType<typeof start>>;
    before(async () => {
      running = await start(open);
    });
    after(() => running?.close());
    for (const [index, subject] of subjects.entries()) {
      const { definition, version } = subject;
      test(`${definition.plural}.${version}.${definition.group}`, async () => {
        const id = `k${index + 1}`;
        const place = { namespace: `suite-${id}`, id, number: index + 1 };
        await checkKind({ client: running.client, ...subject, place });
      });
    }
  });
}

async function start(open: (directory: string, cleanUps: CleanUp[]) => Promise<StoreChoice>) {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-kinds-"));
  const cleanUps: CleanUp[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  try {
    const store = await open(directory, cleanUps);
    const server = await startServer({
      ...defaultConfig,
      ...{ store, certDir: directory, securePort: 0, controllers: "none", shutdownGraceMs: 100 },
    });
    cleanUps.push(() => server.close());
    return { client: clientFor(server.url, server.token), close };
  } catch (error) {
    await close();
    throw error;
  }
}
