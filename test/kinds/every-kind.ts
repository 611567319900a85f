import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { builtInKinds } from "../../src/kinds/built-in/all.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { startServer } from "../../src/programs/server/server.ts";
import type { StoreChoice } from "../../src/storage/options.ts";
import { clientFor } from "../support/client.ts";
import { checkKind } from "./kind-suite.ts";

/** Every stored kind in every version. */
export const subjects = builtInKinds()
  .filter((definition) => definition.storage !== undefined)
  .flatMap((definition) => definition.versions.map(({ name }) => ({ definition, version: name })));

type CleanUp = () => Promise<void>;

/** Opens a store for a server, with files in a folder of its own; what it starts is ended by the clean-ups. */
export type OpenStore = (directory: string, cleanUps: CleanUp[]) => Promise<StoreChoice>;

/** Registers a suite that tries every kind on a server with this store. */
export function suiteOfEveryKind(name: string, open: OpenStore, options: { readonly skip?: string } = {}): void {
  suite(`every kind in every version, on ${name}`, { concurrency: 8, timeout: 120_000, ...options }, () => {
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

async function start(open: OpenStore) {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-kinds-"));
  const cleanUps: CleanUp[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  try {
    const store = await open(directory, cleanUps);
    const server = await startServer(
      { ...defaultConfig, store, certDir: directory, securePort: 0, controllers: "none", shutdownGraceMs: 100 },
      systemEnvironment(),
    );
    cleanUps.push(() => server.close());
    return { client: clientFor(server.url, server.token), close };
  } catch (error) {
    await close();
    throw error;
  }
}
