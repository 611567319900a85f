import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { tokens, writeTokenFile } from "../support/oracle.ts";
import { freePorts } from "../support/ports.ts";
import { type RunningProcess, startProcess, waitUntilReady } from "../support/process.ts";

const cli = path.join(import.meta.dirname, "..", "..", "src", "cli.ts");

/** A Binnacle process that can be killed and restarted at the same address with the same store. */
export interface ModelServer {
  /** Without TLS or credentials. */
  readonly base: string;
  readonly secureBase: string;
  readonly directory: string;
  /** Kills it with SIGKILL. */
  crash(): Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Restarts it and resolves when it is ready. */
  start(): Promise<void>;
  /** Pauses the process, or resumes it. */
  freeze(isFrozen: boolean): void;
  /** Its resident memory in MiB. */
  memoryMb(): Promise<number>;
}

/** Stores and servers, with their cleanup. */
export class Setting {
  readonly #cleanUps: (() => Promise<unknown>)[] = [];

  /** A separate etcd. */
  async etcd(members: 1 | 3 = 1): Promise<EtcdCluster> {
    const cluster = await startEtcd({ members });
    this.#cleanUps.push(() => cluster.stop());
    return cluster;
  }

  /** A server on a store. "sqlite" uses a separate file. */
  async server(store: "memory" | "sqlite" | EtcdCluster, flags: readonly string[] = []): Promise<ModelServer> {
    const directory = await mkdtemp(path.join(tmpdir(), "binnacle-model-"));
    this.#cleanUps.push(() => rm(directory, { recursive: true, force: true }));
    const server = await makeServer(directory, [...storeFlags(store, directory), ...flags]);
    this.#cleanUps.push(() => server.crash());
    await server.start();
    return server;
  }

  /** Adds a cleanup. */
  atEnd(cleanUp: () => Promise<unknown>): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Runs all cleanups. */
  async close(): Promise<void> {
    for (const cleanUp of this.#cleanUps.splice(0).toReversed()) await cleanUp();
  }
}

function storeFlags(store: "memory" | "sqlite" | EtcdCluster, directory: string): string[] {
  if (store === "memory") return ["--store=memory"];
  if (store === "sqlite") return [`--store=sqlite:${path.join(directory, "store.db")}`];
  return [`--etcd-servers=${store.endpoints.join(",")}`];
}

async function makeServer(directory: string, flags: readonly string[]): Promise<ModelServer> {
  const [securePort, port] = await freePorts(2);
  const tokenFile = await writeTokenFile(directory);
  const secureBase = `https://127.0.0.1:${securePort}`;
  let running: RunningProcess | undefined;
  const kill = async (signal: NodeJS.Signals) => running?.kill({ signal, graceMs: 15_000 });
  return {
    base: `http://127.0.0.1:${port}`,
    secureBase,
    directory,
    crash: () => kill("SIGKILL"),
    stop: () => kill("SIGTERM"),
    async start() {
      running = await startProcess(process.execPath, [
        ...[cli, "serve", `--secure-port=${securePort}`, `--insecure-port=${port}`],
        ...[`--cert-dir=${directory}`, `--token-auth-file=${tokenFile}`, "--controllers=none", ...flags],
      ]);
      await waitUntilReady(running, secureBase, { token: tokens.admin });
    },
    freeze(isFrozen) {
      if (running !== undefined) process.kill(running.pid, isFrozen ? "SIGSTOP" : "SIGCONT");
    },
    async memoryMb() {
      const status = await readFile(`/proc/${running?.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    },
  };
}

/** A call to etcd's JSON gateway, as an operator's tools would make it. */
export async function etcdCall(cluster: EtcdCluster, call: string, body: unknown, member = 0): Promise<EtcdAnswer> {
  const response = await fetch(`${cluster.endpoints[member]}/v3/${call}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as EtcdAnswer;
  assert.ok(response.ok, `${call}: ${JSON.stringify(answer)}`);
  return answer;
}

/** A response of the gateway: numbers are strings, keys and values are base64. */
export interface EtcdAnswer {
  readonly header: { readonly revision: string; readonly member_id: string };
  readonly kvs?: readonly { readonly key: string; readonly value: string; readonly version: string }[];
  readonly succeeded?: boolean;
  readonly leader?: string;
}

/** Compacts etcd to `revision` without the servers' knowledge. */
export async function compactEtcd(cluster: EtcdCluster, revision: number): Promise<void> {
  await etcdCall(cluster, "kv/compaction", { revision: String(revision), physical: true });
}

/** The index of the leader. */
export async function leaderOf(cluster: EtcdCluster): Promise<number> {
  for (const member of cluster.endpoints.keys()) {
    const { header, leader } = await etcdCall(cluster, "maintenance/status", {}, member);
    if (leader === header.member_id) return member;
  }
  throw new Error("no member leads");
}

/** Text in the encoding of the gateway. */
export const base64 = (text: string) => Buffer.from(text).toString("base64");
