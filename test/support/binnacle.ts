import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { serverOptions } from "../../src/programs/server/options.ts";
import { startEtcd } from "./etcd.ts";
import { tokens, writeTokenFile } from "./oracle.ts";
import { freePort } from "./ports.ts";
import { type RunningProcess, startProcess, waitUntilReady } from "./process.ts";
import { SECRET_MARK, SecretSearch } from "./secrets.ts";

/** A separate Binnacle process, on loopback. */
export interface RunningBinnacle {
  readonly base: string;
  readonly directory: string;
  /** The administrator's kubeconfig that the server created. */
  readonly kubeconfig: string;
  readonly process: RunningProcess;
  /**
   * Searches all output of the process for tokens and the mark of Secret values. Tests that send other secrets add
   * them.
   */
  readonly secrets: SecretSearch;
  /** Stops the process. Fails if it has written a secret. */
  kill(): Promise<void>;
}

/** The store of the process. */
export type StoreName = "memory" | "sqlite" | "etcd";

/** Options of startBinnacle. */
export interface BinnacleOptions {
  readonly store?: StoreName;
  /** Use this etcd, which the caller owns, instead of starting one. */
  readonly etcdEndpoint?: string;
  /** More flags. */
  readonly flags?: readonly string[];
  /** A program with arguments that executes the server command line, such as `unshare`. */
  readonly launcher?: readonly string[];
  /** Flags of Node itself, such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
}

const cli = path.join(import.meta.dirname, "..", "..", "src", "cli.ts");
/** The sources, unless BINNACLE_CLI names a built program. */
export const chosenCli = path.resolve(process.env.BINNACLE_CLI ?? cli);

const OPTIONS = pathToFileURL(path.join(import.meta.dirname, "..", "..", "src", "programs", "server", "options.ts"));

/** Node flags that give an option of the server, also one without a flag, another default. */
export function withDefault(option: keyof typeof serverOptions, value: number): string[] {
  const program = `import { serverOptions } from "${OPTIONS}"; serverOptions.${option}.default = ${value}`;
  return ["--import", `data:text/javascript,${program}`];
}

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
    await waitUntilReady(server, base, { token: tokens.admin });
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
