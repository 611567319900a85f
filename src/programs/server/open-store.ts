import { readLimited } from "../../base/files/watched-file.ts";
import { isWholeIdentity } from "../../base/pki/certificates.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { StoreMetrics } from "../../serving/metrics/store-metrics.ts";
import type { TlsMaterial } from "../../storage/etcd/transport.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { StoreChoice } from "../../storage/options.ts";
import type { Store } from "../../storage/store.ts";
import type { Config } from "./config.ts";

/**
 * Opens the chosen store. All keys start with `root`. History is compacted once per interval; 0 disables compaction. `metrics` counts
 * reads of etcd and of its cache. The code of SQLite and etcd is only loaded if chosen.
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
      const { SqliteStore } = await import("../../storage/sqlite/store.ts");
      return SqliteStore.open(choice.file, { historyMs, clock });
    }
    case "etcd": {
      const { CachedStore } = await import("../../storage/cached-store.ts");
      const remote = await openEtcd(choice, root, clock, metrics);
      return new CachedStore(remote, { prefix: root, compactionIntervalMs, clock, ...metrics?.cacheOptions });
    }
  }
}

/** Opens the chosen store to read or write it once as a whole, without a cache for etcd. */
export function openDirectly({ store }: Pick<Config, "store">, root: string, clock: Clock): Promise<Store> {
  return store.type === "etcd"
    ? openEtcd(store, root, clock)
    : openStore({ store, compactionIntervalMs: 0 }, root, clock);
}

type EtcdChoice = Extract<StoreChoice, { type: "etcd" }>;

async function openEtcd(choice: EtcdChoice, root: string, clock: Clock, metrics?: StoreMetrics): Promise<Store> {
  const { EtcdStore } = await import("../../storage/etcd/store.ts");
  const tls = await followTls(choice);
  const { servers: endpoints, transport } = choice;
  return new EtcdStore({ endpoints, transport, tls, probeKey: `${root}health`, clock, observer: metrics });
}

/**
 * Reads the files for every connection, so that a renewed certificate needs no restart. Compat: `TLSInfo` of etcd's client reads
 * `--etcd-certfile` and `--etcd-keyfile` in every handshake. While the files are missing or do not match (as during their
 * replacement), the last valid ones are used.
 */
async function followTls(choice: EtcdChoice): Promise<(() => Promise<TlsMaterial>) | undefined> {
  let known = await readTls(choice);
  if (known.ca === undefined && known.certificate === undefined) return undefined;
  return async () => {
    const found = await readTls(choice).catch(() => known);
    if (isUsable(found)) known = found;
    return known;
  };
}

type TlsTexts = TlsMaterial & { readonly [file in keyof TlsMaterial]?: string };

async function readTls({ caFile, certFile, keyFile }: EtcdChoice): Promise<TlsTexts> {
  const read = async (file: string | undefined) => (file === undefined ? undefined : await readLimited(file));
  const [ca, certificate, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return { ca, certificate, key };
}

function isUsable({ ca, certificate, key }: TlsTexts): boolean {
  const isPair = certificate === undefined || key === undefined || isWholeIdentity({ certificate, key });
  return isPair && ca !== "";
}
