import type { Command } from "commander";
import type { GivenOf } from "../../../base/options/option.ts";
import { type StoreChoice, storeOptions } from "../../../storage/options.ts";
import { Failure } from "../command.ts";
import { addFlags } from "./declared-flags.ts";

/** The values of the flags that name a store. */
export type StoreFlags = GivenOf<typeof storeOptions>;

/**
 * Adds the flags of `serve` that name a store, for commands that open it without a server. `etcdHelp` is the text of
 * `--etcd-servers`.
 */
export function addStoreFlags(command: Command, etcdHelp: string): Command {
  const { default: _, ...store } = storeOptions.store;
  return addFlags(command, {
    ...storeOptions,
    store: { ...store, help: "SQLite file that no server has open", placeholder: "sqlite:FILE" },
    etcdServers: { ...storeOptions.etcdServers, help: etcdHelp },
  });
}

/** The store that the flags name, if any. */
export function storeOf(flags: StoreFlags): StoreChoice | undefined {
  const { store, etcdServers: servers, etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile } = flags;
  const { etcdTransport: transport } = flags;
  if (store && servers) {
    throw new Failure("--store and --etcd-servers exclude each other", "Omit one of them: each names a store.");
  }
  if (!servers) return store;
  return {
    ...{ type: "etcd", servers },
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined && { certFile }),
    ...(keyFile !== undefined && { keyFile }),
    ...(transport !== undefined && { transport }),
  };
}

/** The same for commands without a server, which cannot use a store in memory. */
export function storedStoreOf(flags: StoreFlags): StoreChoice | undefined {
  const store = storeOf(flags);
  if (store?.type !== "memory") return store;
  throw new Failure(
    "--store=memory: only a running server has a memory store",
    "Use --store sqlite:FILE or --etcd-servers URL.",
  );
}
