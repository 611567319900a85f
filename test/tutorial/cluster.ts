import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { chosenCli } from "../support/binnacle.ts";
import { eventually } from "../support/time.ts";
import { TutorialShell } from "./shell.ts";
import { isReading, type Step } from "./steps.ts";

const run = promisify(execFile);

/** `binnacle up` with two nodes and the images of the tutorial. */
export class TutorialCluster {
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #shell: TutorialShell;

  private constructor(folder: string, kubeconfig: string, shell: TutorialShell) {
    this.#folder = folder;
    this.kubeconfig = kubeconfig;
    this.#shell = shell;
  }

  static async start(): Promise<TutorialCluster> {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-tutorial-"));
    const handlers = path.join(import.meta.dirname, "handlers.ts");
    const flags = ["--detach", "--no-merge", "--secure-port=0", "--nodes=2", `--handlers=${handlers}`];
    await binnacle(folder, "up", ...flags);
    const kubeconfig = path.join(folder, "binnacle-data", "kubeconfig");
    return new TutorialCluster(folder, kubeconfig, await TutorialShell.open(folder, kubeconfig));
  }

  async stop(): Promise<void> {
    await binnacle(this.#folder, "down").catch(() => {});
    await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Runs a command, which must print what it prints on a real cluster. One that reads is repeated until the cluster has
   * done its work. Returns how long that took, in milliseconds.
   */
  async check({ command, output }: Step): Promise<number> {
    const began = performance.now();
    let last = await this.#shell.normalised(command);
    const isDone = async () => {
      if (last === output) return true;
      last = await this.#shell.normalised(command);
      return false;
    };
    // The comparison below shows the difference.
    if (isReading(command)) await eventually(isDone).catch(() => {});
    assert.equal(last, output, command);
    return performance.now() - began;
  }
}

async function binnacle(folder: string, ...args: string[]): Promise<void> {
  await run(process.execPath, [chosenCli, ...args], { cwd: folder });
}
