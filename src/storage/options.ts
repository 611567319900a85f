import { flagOnly, option } from "../base/options/option.ts";
import {
  choice,
  duration,
  file,
  isRecord,
  list,
  reject,
  text,
  textWhere,
  type ValueType,
} from "../base/options/value-types.ts";

/** Where objects are stored. */
export type StoreChoice =
  | { readonly type: "memory" }
  | { readonly type: "sqlite"; readonly file: string }
  | {
      readonly type: "etcd";
      readonly servers: readonly string[];
      readonly caFile?: string;
      readonly certFile?: string;
      readonly keyFile?: string;
      /** The HTTP/2 client: our own small one (default), or Node's, which is slower but complete. */
      readonly transport?: "frames" | "http2";
    };

const etcdTransport = choice(["frames", "http2"]);

const FORMS = ['{ type: "memory" }', '{ type: "sqlite", file: "FILE" }', '{ type: "etcd", servers: ["URL"] }'];

const storeChoice: ValueType<StoreChoice> = {
  name: "StoreChoice",
  expected: FORMS.join(" or "),
  placeholder: "memory|sqlite:FILE",
  accepts(value) {
    if (!isRecord(value)) return false;
    if (value.type === "memory") return true;
    const isText = text("").accepts;
    if (value.type === "sqlite") return isText(value.file);
    const { type, servers, transport = "frames" } = value;
    if (!etcdTransport.accepts(transport)) return false;
    return type === "etcd" && Array.isArray(servers) && servers.length > 0 && servers.every(isText);
  },
  parse(given) {
    if (given === "memory") return { type: "memory" };
    if (/^sqlite:./s.test(given)) return { type: "sqlite", file: given.slice("sqlite:".length) };
    const hint = /^(etcd|https?):/.test(given) ? "; for etcd, use --etcd-servers URL" : "";
    return reject(`expected memory or sqlite:FILE${hint}`);
  },
  print: (choice) => (choice.type === "sqlite" ? `sqlite:${choice.file}` : choice.type),
};

const etcdServers: ValueType<readonly string[]> = {
  ...list("urls"),
  parse(given, before) {
    const servers = list("urls").parse?.(given, before) ?? [];
    if (servers.length === 0) return reject("expected at least one URL such as http://127.0.0.1:2379");
    for (const server of servers) {
      const url = URL.parse(server);
      const isGood = url !== null && ["http:", "https:"].includes(url.protocol) && url.hostname !== "";
      if (!isGood) return reject(`${JSON.stringify(server)} is not a URL such as http://127.0.0.1:2379`);
      if (url.pathname !== "/" || url.search !== "" || url.username !== "") {
        return reject(
          `${JSON.stringify(server)} has more than scheme, host and port; for a key prefix, use --etcd-prefix`,
        );
      }
    }
    return servers;
  },
};

/** Options that name a store. `etcd*` are parts of `store` in the configuration. */
export const storeOptions = {
  store: option("store", storeChoice, "where objects are stored", { default: { type: "memory" } }),
  etcdServers: flagOnly("etcd-servers", etcdServers, "store objects in this etcd cluster"),
  etcdPrefix: option(
    "etcd-prefix",
    textWhere("prefix", "a path such as /registry", (given) => /^\/./s.test(given)),
    "prefix of all keys in the store",
    { default: "/registry" },
  ),
  etcdCafile: flagOnly("etcd-cafile", file("certificates"), "CA bundle that signs etcd's serving certificates"),
  etcdCertfile: flagOnly("etcd-certfile", file("certificates"), "client certificate for etcd"),
  etcdKeyfile: flagOnly("etcd-keyfile", file("a private key"), "private key of the client certificate for etcd"),
  etcdTransport: flagOnly(
    "etcd-transport",
    etcdTransport,
    "HTTP/2 client for etcd: frames is Binnacle's own and needs less CPU, http2 is Node's",
    { shownDefault: "frames" },
  ),
};

/** All options about storage. */
export const storageOptions = {
  ...storeOptions,
  compactionIntervalMs: option(
    "etcd-compaction-interval",
    duration,
    "interval between compactions of the history of any store; 0 disables compaction",
    { default: 300_000 },
  ),
  eventTtlMs: option("event-ttl", duration, "how long Events are kept", { default: 3_600_000 }),
};
