import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { startKubectl } from "../support/kubectl.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { TutorialShell } from "./shell.ts";
import { isReading, readSteps, type Step } from "./steps.ts";

const cli = path.join(import.meta.dirname, "..", "..", "src", "cli.ts");
const run = promisify(execFile);

suite("the basics tutorial with binnacle up", { ...needs("kubectl") }, () => {
  let folder = "";
  let shell: TutorialShell;
  const binnacle = (...args: string[]) => run(process.execPath, [cli, ...args], { cwd: folder });
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-tutorial-"));
    const handlers = path.join(import.meta.dirname, "handlers.ts");
    await binnacle("up", "--detach", "--no-merge", "--secure-port=0", "--nodes=2", `--handlers=${handlers}`);
    shell = await TutorialShell.open(folder, path.join(folder, "binnacle-data", "kubeconfig"));
  });
  after(async () => {
    await binnacle("down").catch(() => {});
    await rm(folder, { recursive: true, force: true });
  });

  /** Reads until the cluster has done its work. The difference is shown if it never does. */
  async function check({ command, output }: Step): Promise<void> {
    let last = await shell.normalised(command);
    const isDone = async () => {
      if (last === output) return true;
      last = await shell.normalised(command);
      return false;
    };
    if (isReading(command)) await eventually(isDone, { withinMs: 60_000 }).catch(() => {});
    assert.equal(last, output, command);
  }

  test("prints what a real cluster prints", async (t) => {
    for (const step of await readSteps()) {
      const began = performance.now();
      await check(step);
      t.diagnostic(`${Math.round(performance.now() - began)} ms: ${step.command}`);
      if (step.command.startsWith("kubectl expose")) await checkForwarding();
    }
  });

  async function checkForwarding(): Promise<void> {
    const kubeconfig = path.join(folder, "binnacle-data", "kubeconfig");
    const forwarding = await startKubectl(kubeconfig, ["port-forward", "service/kubernetes-bootcamp", ":8080"]);
    try {
      const printed = await eventually(() => /^Forwarding from (\S+) -> 8080$/m.exec(forwarding.output())?.[1]);
      const response = await fetch(`http://${printed}/`);
      assert.match(await response.text(), /^Hello Kubernetes bootcamp! \| Running on: kubernetes-bootcamp-\S+ \| v=1$/m);
    } finally {
      await forwarding.kill();
    }
  }
});
