import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { startClusterServer } from "../../cluster/server.ts";
import { type Client, clientFor } from "../../support/client.ts";
import { tokens } from "../../support/oracle.ts";
import { freePorts } from "../../support/ports.ts";
import { startProcess } from "../../support/process.ts";
import { requireTool } from "../../support/tools.ts";
import { PodWatch } from "./pod-watch.ts";
import { PROFILES } from "./profiles.ts";
import { LoggedScores } from "./scores.ts";

/** A server with a scheduler, a controller of volumes, and nothing else that acts on Pods. */
export interface SchedulerCluster {
  readonly client: Client;
  readonly pods: PodWatch;
  /** What the real scheduler logs. Empty for ours. */
  readonly scores: LoggedScores;
  stop(): Promise<void>;
}

/** Of the real scheduler: otherwise it logs no scores. */
const LOG_FLAGS = ["-v=2", "--vmodule=schedule_one=10"];

/**
 * Starts a cluster whose scheduler is ours or the real one. Files and logs go to `folder`. `configuration`: a
 * KubeSchedulerConfiguration in YAML.
 */
export async function startCluster(
  folder: string,
  scheduler: "ours" | "theirs",
  configuration = PROFILES,
): Promise<SchedulerCluster> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "scheduler.yaml");
  await writeFile(file, configuration);
  const own = scheduler === "ours" ? ["--scheduler", `--scheduler-config=${file}`] : [];
  const controllers = ["serviceaccount-controller", "persistentvolume-binder-controller"];
  const flags = [`--controllers=${controllers}`, ...own];
  const server = await startClusterServer("binnacle", folder, { store: "memory", flags });
  const client = clientFor(server.base, tokens.admin);
  const scores = new LoggedScores();
  const program = scheduler === "ours" ? undefined : await startScheduler(server, folder, configuration, scores);
  const pods = new PodWatch(client);
  return {
    ...{ client, pods, scores },
    async stop() {
      pods.stop();
      await program?.kill();
      await server.kill();
    },
  };
}

async function startScheduler(
  server: Awaited<ReturnType<typeof startClusterServer>>,
  folder: string,
  configuration: string,
  scores: LoggedScores,
) {
  const [port] = await freePorts(1);
  const file = await server.kubeconfig("kube-scheduler", { commonName: "system:kube-scheduler" });
  // Without limits of its own, the program sends at most 50 requests a second.
  const connection = `clientConnection: { kubeconfig: ${JSON.stringify(file)}, qps: 5000, burst: 5000 }`;
  const configFile = path.join(folder, "kube-scheduler.yaml");
  await writeFile(configFile, `${configuration}\n${connection}\nleaderElection: { leaderElect: false }\n`);
  const access = ["authentication-", "authorization-"].map((part) => `--${part}kubeconfig=${file}`);
  const log = createWriteStream(path.join(folder, "kube-scheduler.log"));
  const onOutput = (text: string) => {
    log.write(text);
    scores.read(text);
  };
  const own = ["--bind-address=127.0.0.1", `--secure-port=${port}`, `--cert-dir=${path.join(folder, "certificates")}`];
  const env = { ...process.env, HOME: folder };
  const args = [`--config=${configFile}`, ...access, ...own, ...LOG_FLAGS];
  return startProcess(requireTool("kube-scheduler"), args, { env, cwd: folder, onOutput });
}
