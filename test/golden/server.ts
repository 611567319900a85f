import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chosenCli } from "../support/binnacle.ts";
import { startEtcd } from "../support/etcd.ts";
import { startOracle, tokens, writeTokenFile } from "../support/oracle.ts";
import { freePort } from "../support/ports.ts";
import { startProcess, waitUntilReady } from "../support/process.ts";

/** A server that scenarios are replayed against. */
export interface GoldenServer {
  readonly base: string;
  readonly tokens: typeof tokens;
  /** Resolves with a description when the server ends before `kill` was called. */
  readonly exited: Promise<string>;
  kill(): Promise<void>;
}

/** What to start: Binnacle on one of its stores, or the real kube-apiserver. */
export type ServerChoice = "memory" | "sqlite" | "etcd" | "oracle";

/** Starts the server as the recordings need it, with further flags, and resolves when it is ready. */
export async function startServer(choice: ServerChoice, flags: readonly string[] = []): Promise<GoldenServer> {
  if (choice === "oracle") return startOracle({ flags });
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-golden-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  const kill = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  try {
    const port = await freePort();
    const base = `https://127.0.0.1:${port}`;
    const server = await startProcess(process.execPath, [
      chosenCli,
      "serve",
      ...(await storeFlags(choice, directory, cleanUps)),
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      `--cert-dir=${directory}`,
      `--token-auth-file=${await writeTokenFile(directory)}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      "--controllers=none",
      // The recordings are full of paths that the real server does not have.
      "--custom-objects=defined",
      ...flags,
    ]);
    cleanUps.push(() => server.kill());
    await waitUntilReady(server, base, { token: tokens.admin });
    const exited = server.exited.then((how) => `${how}\n${server.output()}`);
    return { base, tokens, exited, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function storeFlags(
  store: Exclude<ServerChoice, "oracle">,
  directory: string,
  cleanUps: (() => Promise<void>)[],
): Promise<string[]> {
  if (store === "memory") return ["--store", "memory"];
  if (store === "sqlite") return ["--store", `sqlite:${path.join(directory, "golden.db")}`];
  const etcd = await startEtcd();
  cleanUps.push(() => etcd.stop());
  return [`--etcd-servers=${etcd.endpoints.join(",")}`];
}
