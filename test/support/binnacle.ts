import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEtcd } from "./etcd.ts";
import { tokens, writeTokenFile } from "./oracle.ts";
import { freePort } from "./ports.ts";
import { type RunningProcess, startProcess, waitUntilReady } from "./process.ts";
import { SECRET_MARK, SecretSearch } from "./secrets.ts";

/** A Binnacle process of its own, on loopback. */
export interface RunningBinnacle {
  readonly base: string;
  readonly directory: string;
  /** The administrator's kubeconfig that the server made. */
  readonly kubeconfig: string;
  readonly process: RunningProcess;
  /** Reads all that the process writes. It knows the tokens and the mark of Secret values; whoever sends more adds it. */
  readonly secrets: SecretSearch;
  /** Ends it. Fails when it has written a secret. */
  kill(): Promise<void>;
}

/** Which store the process keeps its objects in. */
export type StoreName = "memory" | "sqlite" | "etcd";

/** How to start it. */
export interface BinnacleOptions {
  readonly store?: StoreName;
  /** Use this etcd, which the caller owns, instead of starting one. */
  readonly etcdEndpoint?: string;
  /** Further flags. */
  readonly flags?: readonly string[];
  /** A program with arguments that becomes the server, whose command line follows: `unshare`, for one. */
  readonly launcher?: readonly string[];
  /** How long it may take until it is ready: 30 s unless told. */
  readonly readyWithinMs?: number;
  /** Flags of Node itself, such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
}

const cli = path.join(import.meta.dirname, "..", "..", "src", "cli.ts");
/** The sources, unless BINNACLE_CLI names a built program. */
export const chosenCli = path.resolve(process.env.BINNACLE_CLI ?? cli);

/** Starts a server and resolves when it is ready. */
export async function startBinnacle(options: BinnacleOptions = {}): Promise<RunningBinnacle> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  const secrets = new SecretSearch();
  for (const [user, token] of Object.entries(tokens)) secrets.add(`the token of ${user}`, token);
  secrets.add("a Secret's value", SECRET_MARK);
  const kill = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    if (secrets.found.length > 0) throw new Error(`the server wrote ${secrets.found.join(", ")}`);
  };
  try {
    const port = await freePort();
    const base = `https://127.0.0.1:${port}`;
    const flags = [
      ...(await storeFlags(options, directory, cleanUps)),
      `--secure-port=${port}`,
      `--cert-dir=${directory}`,
      `--token-auth-file=${await writeTokenFile(directory)}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      "--controllers=none",
      ...(options.flags ?? []),
    ];
    const onOutput = (chunk: string) => secrets.read(chunk);
    const node = [process.execPath, ...(options.nodeFlags ?? []), cli, "serve", ...flags];
    const [program = process.execPath, ...args] = [...(options.launcher ?? []), ...node];
    const server = await startProcess(program, args, { onOutput });
    cleanUps.push(() => server.kill());
    await waitUntilReady(server, base, { token: tokens.admin, withinMs: options.readyWithinMs ?? 30_000 });
    const adminToken = await readFile(path.join(directory, "admin-token"), "utf8").catch(() => undefined);
    if (adminToken !== undefined) secrets.add("the administrator's token", adminToken.trim());
    secrets.read(server.output());
    return { base, directory, kubeconfig: path.join(directory, "kubeconfig"), process: server, secrets, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function storeFlags(
  { store = "memory", etcdEndpoint }: BinnacleOptions,
  directory: string,
  cleanUps: (() => Promise<void>)[],
): Promise<string[]> {
  if (etcdEndpoint !== undefined) return [`--etcd-servers=${etcdEndpoint}`];
  if (store === "memory") return ["--store=memory"];
  if (store === "sqlite") return [`--store=sqlite:${path.join(directory, "store.db")}`];
  const etcd = await startEtcd();
  cleanUps.push(() => etcd.stop());
  return [`--etcd-servers=${etcd.endpoints.join(",")}`];
}
