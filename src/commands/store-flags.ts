import { type Command, Option } from "commander";
import { defaultConfig, type StoreChoice } from "../server/config.ts";
import { Failure } from "./command.ts";
import { etcdServers, keyPrefix, storeChoice } from "./flag-values.ts";

/** The flags of `serve` that name a store. */
export interface StoreFlags {
  readonly store?: StoreChoice;
  readonly etcdServers?: string[];
  readonly etcdPrefix: string;
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
}

/** Adds them to a command that opens a store without serving it. */
export function addStoreFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--store <sqlite:FILE>", "a store in a file, which no server has open").argParser(storeChoice),
    )
    .addOption(new Option("--etcd-servers <urls>", "a store in this etcd cluster").argParser(etcdServers))
    .addOption(
      new Option("--etcd-prefix <prefix>", "prefix of all keys").argParser(keyPrefix).default(defaultConfig.etcdPrefix),
    )
    .option("--etcd-cafile <file>", "authority of etcd's certificates")
    .option("--etcd-certfile <file>", "client certificate for etcd")
    .option("--etcd-keyfile <file>", "key of the client certificate for etcd");
}

/** The store that the flags name; undefined when they name none. */
export function storeOf(flags: StoreFlags): StoreChoice | undefined {
  const { store, etcdServers: servers, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
  if (store && servers) throw new Failure("--store and --etcd-servers exclude each other", "Leave one of them out");
  if (store?.type === "memory") {
    throw new Failure("--store=memory: a store in memory is gone with its server", "Name a file: --store sqlite:FILE");
  }
  if (!servers) return store;
  return {
    type: "etcd",
    servers,
    ...(etcdCafile !== undefined && { caFile: etcdCafile }),
    ...(etcdCertfile !== undefined && { certFile: etcdCertfile }),
    ...(etcdKeyfile !== undefined && { keyFile: etcdKeyfile }),
  };
}
