import { readFile } from "node:fs/promises";
import path from "node:path";
import { chosenCli } from "../support/binnacle.ts";
import { type RunningProcess, startProcess, waitUntilReady } from "../support/process.ts";
import { requireTool } from "../support/tools.ts";
import type { Host, Site } from "./site.ts";
import { readEnvironment, readUnit } from "./unit.ts";

/** Shorter than the unit's own: our balancer looks more often than others. */
const SHUTDOWN_DELAY = "--shutdown-delay-duration=1s";
const READY_WITHIN_MS = 60_000;

/** Takes the place of systemd on every host: starts what the units say that were copied there. */
export class Services {
  readonly #site: Site;
  readonly #running = new Map<string, RunningProcess>();

  constructor(site: Site) {
    this.#site = site;
  }

  /** Starts a unit; a replica is waited for until it is ready, as its `ExecStartPost=` does. */
  async start(host: Host, unit: string): Promise<void> {
    const id = idOf(host, unit);
    if (this.#running.get(id)?.hasExited === false) return;
    const read = async (...names: string[]) =>
      this.#site.localizedOn(host, await readFile(path.join(host.root, ...names), "utf8"));
    const environment = readEnvironment(await read("etc/binnacle/host.env"));
    const { program, args } = readUnit(await read("etc/systemd/system", `${unit}.service`), environment);
    const given = args.map((arg) => (arg.startsWith("--shutdown-delay-duration=") ? SHUTDOWN_DELAY : arg));
    const [command = "", ...first] = program.endsWith("/etcd") ? [requireTool("etcd")] : [process.execPath, chosenCli];
    const more = program.endsWith("/etcd") ? ["--log-level=error"] : [];
    const running = await startProcess(command, [...first, ...given, ...more]);
    this.#running.set(id, running);
    if (unit !== "binnacle") return;
    await waitUntilReady(running, this.#site.urlOf(host), { token: "", withinMs: READY_WITHIN_MS });
  }

  /** Asks it to end, as `systemctl stop` does, and resolves when it has. */
  async stop(host: Host, unit: string): Promise<void> {
    await this.#running.get(idOf(host, unit))?.kill({ graceMs: 60_000 });
  }

  async restart(host: Host, unit: string): Promise<void> {
    await this.stop(host, unit);
    await this.start(host, unit);
  }

  /** Ends it without a warning. */
  async kill(host: Host, unit: string): Promise<void> {
    await this.#running.get(idOf(host, unit))?.kill({ signal: "SIGKILL" });
  }

  /** The end of what it wrote. */
  output(host: Host, unit: string): string {
    return this.#running.get(idOf(host, unit))?.output() ?? "";
  }

  /** The units that have ended though nobody asked them to: none, if all is well. */
  get ended(): string[] {
    return [...this.#running].filter(([, { hasExited }]) => hasExited).map(([id]) => id);
  }

  async stopAll(): Promise<void> {
    const replicas = [...this.#running].filter(([id]) => id.startsWith("binnacle "));
    await Promise.all(replicas.map(([, running]) => running.kill({ graceMs: 15_000 })));
    await Promise.all([...this.#running.values()].map((running) => running.kill()));
  }
}

const idOf = (host: Host, unit: string): string => `${unit} of ${host.name}`;
