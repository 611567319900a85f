import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import { CachedStore } from "./cached-store.ts";
import { MemoryStore } from "./memory.ts";
import { SqliteStore } from "./sqlite/store.ts";
import { describeStore } from "./store.suite.ts";
import { FaultyStore } from "./suite/faulty-store.suite.ts";

// Concurrently, since tests mostly wait. For etcd see store.etcd.test.ts.
describe("the store suite in this process", { concurrency: true }, () => {
  describeStore("MemoryStore", async () => {
    const store = new MemoryStore();
    return { store, close: () => store.close() };
  });

  describeStore("FaultyStore without faults", async () => {
    const store = new FaultyStore(new MemoryStore());
    return { store, close: () => store.close() };
  });

  describeStore("CachedStore over MemoryStore", async () => {
    const store = new CachedStore(new MemoryStore(), { prefix: "/suite-" });
    await store.ready;
    return { store, close: () => store.close() };
  });

  describeStore("SqliteStore", async () => {
    const folder = await mkdtemp(join(tmpdir(), "binnacle-sqlite-"));
    const store = await SqliteStore.open(join(folder, "data.db"));
    const close = async (): Promise<void> => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { store, close };
  });
});
