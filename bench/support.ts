import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { startEtcd } from "../test/support/etcd.ts";
import { startOracle, tokens, writeTokenFile } from "../test/support/oracle.ts";
import { freePort } from "../test/support/ports.ts";
import { startProcess, waitUntilReady } from "../test/support/process.ts";

/** A server under measurement. */
export interface Contestant {
  readonly name: string;
  readonly base: string;
  readonly pid: number;
}

/** Both servers on one etcd, and how to end everything. */
export interface Arena {
  readonly etcdEndpoint: string;
  readonly binnacle: Contestant;
  /** Absent when only Binnacle is measured. */
  readonly kubeApiserver: Contestant | undefined;
  /** Where Binnacle's certificate and key are. */
  readonly certificateDirectory: string;
  close(): Promise<void>;
}

/** What to start. */
export interface ArenaOptions {
  readonly withKubeApiserver: boolean;
  /** Runs after the real server has made its own objects and before Binnacle starts. */
  readonly fill: (etcdEndpoint: string, base: string | undefined) => Promise<void>;
}

/** The token with which both servers know the administrator. */
export const token: string = tokens.admin;

const ownCli = process.env.BINNACLE_CLI ?? path.join(import.meta.dirname, "..", "dist", "cli.js");

/** Starts etcd, the real kube-apiserver with JSON in etcd, and the built Binnacle beside it. */
export async function openArena(options: ArenaOptions): Promise<Arena> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  try {
    const etcd = await startEtcd({ arguments: ["--quota-backend-bytes", String(4 * 2 ** 30)] });
    cleanUps.push(() => etcd.stop());
    const etcdEndpoint = etcd.endpoints[0] ?? "";
    let kubeApiserver: Contestant | undefined;
    if (options.withKubeApiserver) {
      const oracle = await startOracle({
        etcdEndpoint,
        storageMediaType: "application/json",
        // No controller makes the default service accounts that this plugin asks for.
        flags: ["--disable-admission-plugins=ServiceAccount"],
      });
      cleanUps.push(() => oracle.kill());
      kubeApiserver = { name: "kube-apiserver", base: oracle.base, pid: await childPid("kube-apiserver") };
    }
    await options.fill(etcdEndpoint, kubeApiserver?.base);
    const binnacle = await startBuilt(etcdEndpoint, directory);
    cleanUps.push(() => binnacle.kill());
    return { etcdEndpoint, binnacle, kubeApiserver, certificateDirectory: directory, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server that this process has started. */
export type StartedContestant = Contestant & { kill(): Promise<void> };

/**
 * Starts the built Binnacle, or another build of it, on an etcd or on memory, with its certificates in the given folder.
 * `onOutput` gets what it prints.
 */
export async function startBuilt(
  etcdEndpoint: string | "memory",
  directory: string,
  cli: string = ownCli,
  onOutput?: (text: string) => void,
): Promise<StartedContestant> {
  await mkdir(directory, { recursive: true });
  const port = await freePort();
  const base = `https://127.0.0.1:${port}`;
  const nodeFlags = (process.env.BINNACLE_NODE_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
  // Run as users run it: the program says itself how Node is to run it.
  const [program, ...first] = nodeFlags.length > 0 ? [process.execPath, ...nodeFlags, cli] : [cli];
  const flags = [
    ...[...first, "serve", etcdEndpoint === "memory" ? "--store=memory" : `--etcd-servers=${etcdEndpoint}`],
    `--secure-port=${port}`,
    `--cert-dir=${directory}`,
    `--token-auth-file=${await writeTokenFile(directory)}`,
    "--service-cluster-ip-range=10.96.0.0/16",
  ];
  const server = await startProcess(program, flags, onOutput ? { onOutput } : {});
  await waitUntilReady(server, base, { token, withinMs: 60_000 });
  return { name: "Binnacle", base, pid: server.pid, kill: () => server.kill() };
}

/** Starts the bare Node server with the certificates of the given folder. Its path `/N` answers N bytes. */
export async function startBare(directory: string): Promise<StartedContestant> {
  const port = await freePort();
  const program = path.join(import.meta.dirname, "support-bare-server.ts");
  const started = await startProcess(process.execPath, [program, directory, String(port)]);
  const base = `https://127.0.0.1:${port}`;
  await waitUntilReady(started, base, { token: "", withinMs: 10_000 });
  return { name: "bare Node", base, pid: started.pid, kill: () => started.kill() };
}

/** The youngest process of this name that this process started. */
export async function childPid(name: string): Promise<number> {
  const found: number[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [, command, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? [];
    if (command === name.slice(0, 15) && Number(parent) === process.pid) found.push(Number(pid));
  }
  return found.at(-1) ?? 0;
}

/** Resident memory of a process, in megabytes of 2^20 bytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? 0) / 1024;
}

/** Processor time that a process has used so far, in milliseconds. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // The kernel counts in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** One line about the machine and the programs, for the head of a report. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
}

/** The middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The value that the given share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Prints rows as a Markdown table; the first row is the head. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  process.stdout.write(`\n${line(head)}${line(head.map(() => "---"))}${body.map(line).join("")}\n`);
}

/** Prints a line of progress to where it does not mix with tables. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
