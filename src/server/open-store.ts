import { readFile } from "node:fs/promises";
import type { Clock } from "../lib/clock.ts";
import { MemoryStore } from "../storage/memory.ts";
import type { Store } from "../storage/store.ts";
import type { Config, StoreChoice } from "./config.ts";
import type { StoreMetrics } from "./metrics/store-metrics.ts";

/**
 * Opens the chosen store; everything of ours lies below `root`. History is compacted once per interval, or never when
 * that is 0. `metrics` hears of reads that etcd answers and of the cache in front of it. SQLite and etcd are loaded only when chosen.
 */
export async function openStore(
  { store: choice, compactionIntervalMs }: Pick<Config, "store" | "compactionIntervalMs">,
  root: string,
  clock: Clock,
  metrics?: StoreMetrics,
): Promise<Store> {
  const historyMs = compactionIntervalMs === 0 ? Number.POSITIVE_INFINITY : compactionIntervalMs;
  switch (choice.type) {
    case "memory":
      return new MemoryStore({ historyMs, clock });
    case "sqlite": {
      const { SqliteStore } = await import("../storage/sqlite/store.ts");
      return SqliteStore.open(choice.file, { historyMs, clock });
    }
    case "etcd": {
      const [{ EtcdStore }, { CachedStore }] = await Promise.all([
        import("../storage/etcd/store.ts"),
        import("../storage/cached-store.ts"),
      ]);
      const tls = await readTls(choice);
      const remote = new EtcdStore({
        endpoints: choice.servers,
        tls,
        probeKey: `${root}health`,
        clock,
        observer: metrics,
      });
      return new CachedStore(remote, { prefix: root, compactionIntervalMs, clock, ...metrics?.cacheOptions });
    }
  }
}

async function readTls({ caFile, certFile, keyFile }: Extract<StoreChoice, { type: "etcd" }>) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : await readFile(file, "utf8"));
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return ca === undefined && cert === undefined ? undefined : { ca, certificate: cert, key };
}
