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
      const { CachedStore } = await import("../storage/cached-store.ts");
      const remote = await openEtcd(choice, root, clock, metrics);
      return new CachedStore(remote, { prefix: root, compactionIntervalMs, clock, ...metrics?.cacheOptions });
    }
  }
}

/** Opens the chosen store for who reads or writes it as a whole, once: etcd has no cache then. */
export function openDirectly({ store }: Pick<Config, "store">, root: string, clock: Clock): Promise<Store> {
  return store.type === "etcd"
    ? openEtcd(store, root, clock)
    : openStore({ store, compactionIntervalMs: 0 }, root, clock);
}

type EtcdChoice = Extract<StoreChoice, { type: "etcd" }>;

async function openEtcd(choice: EtcdChoice, root: string, clock: Clock, metrics?: StoreMetrics): Promise<Store> {
  const { EtcdStore } = await import("../storage/etcd/store.ts");
  const tls = await readTls(choice);
  return new EtcdStore({ endpoints: choice.servers, tls, probeKey: `${root}health`, clock, observer: metrics });
}

async function readTls({ caFile, certFile, keyFile }: EtcdChoice) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : await readFile(file, "utf8"));
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return ca === undefined && cert === undefined ? undefined : { ca, certificate: cert, key };
}
