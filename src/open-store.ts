import { readFile } from "node:fs/promises";
import type { StoreChoice } from "./config.ts";
import type { Store } from "./storage/store.ts";

/** Opens the chosen store; everything of ours lies below `root`. Engines are loaded only when chosen. */
export async function openStore(choice: StoreChoice, root: string): Promise<Store> {
  switch (choice.type) {
    case "memory": {
      const { MemoryStore } = await import("./storage/memory.ts");
      return new MemoryStore();
    }
    case "sqlite": {
      const { SqliteStore } = await import("./storage/sqlite/store.ts");
      return SqliteStore.open(choice.file);
    }
    case "etcd": {
      const [{ EtcdStore }, { CachedStore }] = await Promise.all([
        import("./storage/etcd/store.ts"),
        import("./storage/cached-store.ts"),
      ]);
      const tls = await readTls(choice);
      const remote = new EtcdStore({ endpoints: choice.servers, tls, probeKey: `${root}health` });
      return new CachedStore(remote, { prefix: root });
    }
  }
}

async function readTls({ caFile, certFile, keyFile }: Extract<StoreChoice, { type: "etcd" }>) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : await readFile(file, "utf8"));
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return ca === undefined && cert === undefined ? undefined : { ca, certificate: cert, key };
}
