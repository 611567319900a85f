import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPrograms } from "../cluster/programs.ts";
import { startClusterServer } from "../cluster/server.ts";
import { eventually } from "../support/time.ts";
import { TutorialShell } from "./shell.ts";
import { isReading, printTranscript, readSteps, type Step, type Transcript, transcriptFile } from "./steps.ts";

/*
 * Runs the commands of both transcripts on kube-apiserver, kube-controller-manager, kube-scheduler and KWOK, and writes
 * their output into the transcripts. The output of a kubelet stays as it is. Arguments: the names of transcripts.
 */
const TRANSCRIPTS: readonly Transcript[] = ["basics", "releases"];
const chosen = process.argv.slice(2);
const NODES = ["node-1", "node-2"];
/** A cluster that shows the same for this long has done its work. */
const CALM_MS = 2000;

const folder = await mkdtemp(path.join(tmpdir(), "binnacle-tutorial-"));
const server = await startClusterServer("kube-apiserver", folder);
try {
  const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
  const programs = await startPrograms(server, admin, folder);
  try {
    const shell = await TutorialShell.open(folder, admin);
    await prepare(shell);
    for (const name of TRANSCRIPTS) if (chosen.length === 0 || chosen.includes(name)) await record(shell, name);
  } finally {
    await programs.stop();
  }
} finally {
  await server.kill();
  await rm(folder, { recursive: true, force: true });
}

async function record(shell: TutorialShell, name: Transcript): Promise<void> {
  const recorded: Step[] = [];
  for (const step of await readSteps(name)) {
    const output = step.kubelet === "kubelet only" ? step.output : await outputOf(shell, step);
    process.stdout.write(`$ ${step.command}\n${output}\n\n`);
    recorded.push(step.kubelet ? step : { ...step, output });
  }
  await writeFile(transcriptFile(name), printTranscript(recorded));
}

async function outputOf(shell: TutorialShell, { command }: Step): Promise<string> {
  let output = await shell.normalised(command);
  if (!isReading(command)) return output;
  for (;;) {
    await sleep(CALM_MS);
    const again = await shell.normalised(command);
    if (again === output) return output;
    output = again;
  }
}

async function prepare(shell: TutorialShell): Promise<void> {
  for (const name of NODES) {
    const node = { kind: "Node", apiVersion: "v1", metadata: { name } };
    await writeFile(path.join(folder, "node.json"), JSON.stringify(node));
    await shell.run("kubectl create -f node.json");
  }
  await eventually(async () => (await shell.run("kubectl get nodes")).match(/ Ready /g)?.length === NODES.length);
  await eventually(async () => (await shell.run("kubectl get sa default")).includes("AGE"));
}
