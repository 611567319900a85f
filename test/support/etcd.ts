import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./ports.ts";
import { eventually } from "./time.ts";
import { requireTool } from "./tools.ts";

/** How to start etcd for a test. */
export interface EtcdClusterOptions {
  readonly members?: 1 | 3;
  /** Files for TLS; clients must then present a certificate of the same CA. */
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  /** Whether writes are synced to disk before they are acknowledged, as in production. Tests omit that. */
  readonly isDurable?: boolean;
  /** More command line arguments of every member. */
  readonly arguments?: readonly string[];
}

interface MemberProcess {
  readonly name: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
  readonly dataDirectory: string;
  child: ChildProcess | undefined;
}

/** Real etcd processes with data of their own, on free loopback ports. */
export class EtcdCluster {
  readonly #members: readonly MemberProcess[];
  readonly #options: EtcdClusterOptions;
  readonly #directory: string;

  constructor(members: readonly MemberProcess[], directory: string, options: EtcdClusterOptions) {
    this.#members = members;
    this.#directory = directory;
    this.#options = options;
  }

  /** Client URLs of all members, by index. */
  get endpoints(): string[] {
    return this.#members.map((member) => member.clientUrl);
  }

  /** Starts all members and waits until each can serve a write. */
  async start(): Promise<void> {
    for (const member of this.#members) this.#spawn(member);
    await Promise.all(this.#members.map((member) => this.#waitUntilHealthy(member)));
  }

  /** Kills a member, as a power failure would, and waits until it is gone. */
  async kill(index: number): Promise<void> {
    await end(this.#member(index));
  }

  /** Starts a killed member again with its old data, and waits until it can serve. */
  async restart(index: number): Promise<void> {
    const member = this.#member(index);
    await end(member);
    this.#spawn(member);
    await this.#waitUntilHealthy(member);
  }

  /** Pauses a member's process, or resumes it. A paused one neither responds nor closes connections. */
  freeze(index: number, isFrozen: boolean): void {
    this.#member(index).child?.kill(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  /** Kills all members and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.#members.map(end));
    await rm(this.#directory, { recursive: true, force: true });
  }

  #member(index: number): MemberProcess {
    const member = this.#members[index];
    if (member === undefined) throw new RangeError(`no member ${index}`);
    return member;
  }

  #spawn(member: MemberProcess): void {
    const { tls, isDurable } = this.#options;
    const security = tls && [
      ...["--cert-file", tls.certificate, "--key-file", tls.key],
      ...["--trusted-ca-file", tls.ca, "--client-cert-auth"],
    ];
    const child = spawn(
      requireTool("etcd"),
      [
        ...["--name", member.name, "--data-dir", member.dataDirectory],
        ...["--listen-client-urls", member.clientUrl, "--advertise-client-urls", member.clientUrl],
        ...["--listen-peer-urls", member.peerUrl, "--initial-advertise-peer-urls", member.peerUrl],
        ...["--initial-cluster", this.#members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(",")],
        ...["--heartbeat-interval", "50", "--election-timeout", "500", ...(isDurable ? [] : ["--unsafe-no-fsync"])],
        ...["--log-level", "error", ...(security ?? []), ...(this.#options.arguments ?? [])],
      ],
      { stdio: ["ignore", "ignore", "ignore"] },
    );
    member.child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
  }

  /** With TLS the health endpoint needs a certificate, so an open port is enough. */
  async #waitUntilHealthy(member: MemberProcess): Promise<void> {
    const isServing = async () => {
      if (await isHealthy(member.clientUrl)) return true;
      if (member.child?.exitCode !== null) throw new Error(`etcd ${member.name} ended while starting`);
      return false;
    };
    await eventually(isServing, { everyMs: 25, what: `etcd ${member.name} is healthy` });
  }
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts etcd with one member (or three). Tests that call this need `needs("etcd")`: it throws if the program is
 * missing.
 */
export async function startEtcd(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  requireTool("etcd");
  const directory = await mkdtemp(join(tmpdir(), "binnacle-etcd-"));
  const count = options.members ?? 1;
  const ports = await freePorts(count * 2);
  const scheme = options.tls === undefined ? "http" : "https";
  const members = Array.from({ length: count }, (_, i) => ({
    name: `member${i}`,
    clientUrl: `${scheme}://127.0.0.1:${ports[i * 2]}`,
    peerUrl: `http://127.0.0.1:${ports[i * 2 + 1]}`,
    dataDirectory: join(directory, `member${i}`),
    child: undefined,
  }));
  const cluster = new EtcdCluster(members, directory, options);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

async function isHealthy(clientUrl: string): Promise<boolean> {
  try {
    if (clientUrl.startsWith("https:")) return await acceptsConnections(Number(new URL(clientUrl).port));
    return (await fetch(`${clientUrl}/health`)).ok;
  } catch {
    return false;
  }
}

async function end(member: MemberProcess): Promise<void> {
  const { child } = member;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
