import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { kubectlFor } from "../support/kubectl.ts";
import { freePorts } from "../support/ports.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { cacheFolder, type Program, requireTool } from "../support/tools.ts";
import { CLUSTER_CIDR, type ClusterServer } from "./server.ts";

const run = promisify(execFile);
const kwokModule = path.join(import.meta.dirname, "..", "..", "tools", "kwok");

/** The programs of a cluster besides its API server; each writes NAME.log. */
export const PROGRAMS = ["kube-controller-manager", "kube-scheduler", "kwok"] as const satisfies readonly Program[];

// KWOK's own descriptions of nodes and pods that become ready at once.
const STAGES = [
  "node/fast/node-initialize.yaml",
  "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
  "pod/fast/pod-ready.yaml",
  "pod/fast/pod-complete.yaml",
  "pod/fast/pod-delete.yaml",
];

/** Options of `startPrograms`. */
export interface ProgramOptions {
  /** Of the controller manager and the scheduler. */
  readonly flags?: readonly string[];
  readonly managerFlags?: readonly string[];
  /** Default: true. False if the server runs all controllers itself. */
  readonly hasManager?: boolean;
  /** Label selector of the nodes that KWOK manages. Default: all. */
  readonly nodes?: string;
}

/**
 * Starts the controller manager, if there is one, with a service account for every controller, the scheduler, and KWOK, which pretends to
 * be every node's kubelet, with the service account and ClusterRole that KWOK itself comes with.
 */
export async function startPrograms(
  server: ClusterServer,
  admin: string,
  folder: string,
  { flags = [], managerFlags = [], hasManager = true, nodes }: ProgramOptions = {},
): Promise<{ stop(): Promise<void> }> {
  const programs: RunningProcess[] = [];
  const stop = async () => {
    await Promise.all(programs.map((program) => program.kill()));
  };
  const start = async (program: Program, args: readonly string[]) => {
    const log = createWriteStream(path.join(folder, `${program}.log`));
    const env = { ...process.env, HOME: folder };
    const started = await startProcess(requireTool(program), args, {
      env,
      cwd: folder,
      onOutput: (text) => log.write(text),
    });
    void started.exited.then(() => log.end());
    programs.push(started);
  };
  try {
    const [controllerPort, schedulerPort, kwokPort] = await freePorts(3);
    const common = async (name: string, port: number | undefined) => {
      const file = await server.kubeconfig(name, { commonName: `system:${name}` });
      const access = ["", "authentication-", "authorization-"].map((part) => `--${part}kubeconfig=${file}`);
      return [
        ...access,
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--cert-dir=${path.join(folder, name)}`,
        ...flags,
      ];
    };
    if (hasManager) {
      await start("kube-controller-manager", [
        ...(await common("kube-controller-manager", controllerPort)),
        "--use-service-account-credentials=true",
        `--service-account-private-key-file=${server.accountKeyFile}`,
        `--root-ca-file=${server.authorityFile}`,
        `--cluster-signing-cert-file=${server.authorityFile}`,
        `--cluster-signing-key-file=${server.authorityKeyFile}`,
        "--allocate-node-cidrs=true",
        `--cluster-cidr=${CLUSTER_CIDR}`,
        `--flex-volume-plugin-dir=${path.join(folder, "flex")}`,
        ...managerFlags,
      ]);
    }
    await start("kube-scheduler", await common("kube-scheduler", schedulerPort));
    const { kubeconfig, stages } = await prepareKwok(server, admin, folder);
    await start("kwok", [
      `--kubeconfig=${kubeconfig}`,
      `--config=${stages}`,
      nodes === undefined ? "--manage-all-nodes=true" : `--manage-nodes-with-label-selector=${nodes}`,
      "--cidr=10.244.0.1/16",
      "--node-ip=10.0.0.1",
      "--node-lease-duration-seconds=40",
      `--server-address=127.0.0.1:${kwokPort}`,
    ]);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The folder with the Stages, roles and definitions that KWOK comes with. */
export async function kwokFolder(): Promise<string> {
  const { stdout } = await run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], { cwd: kwokModule });
  return path.join(stdout.trim(), "kustomize");
}

async function prepareKwok(server: ClusterServer, admin: string, folder: string) {
  const kustomize = await kwokFolder();
  const stages = path.join(folder, "stages.yaml");
  const texts = await Promise.all(STAGES.map((file) => readFile(path.join(kustomize, "stage", file), "utf8")));
  await writeFile(stages, texts.join("\n---\n"));
  const kubectl = async (...args: string[]) => {
    const { code, stdout: output, stderr } = await kubectlFor(admin)(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}\n${output}${stderr}`);
    return output.trim();
  };
  await kubectl("apply", "-k", path.join(kustomize, "rbac"));
  const token = await kubectl("create", "token", "kwok-controller", "-n", "kube-system", "--duration=2h");
  return { kubeconfig: await server.kubeconfig("kwok", { token }), stages };
}

/** Runs the scenario, hears its lines as they come, and answers with them. */
export async function runScenario(
  server: ClusterServer,
  admin: string,
  folder: string,
  onLine: (line: string) => void,
): Promise<string[]> {
  const work = path.join(folder, "scenario");
  await mkdir(work);
  const env = {
    ...process.env,
    HOME: work,
    KUBECONFIG: admin,
    AUTHORITY: server.authorityFile,
    DEMO: path.join(import.meta.dirname, "demo.yaml"),
    PATH: `${path.join(cacheFolder(), "bin")}${path.delimiter}${process.env.PATH}`,
  };
  const lines: string[] = [];
  let rest = "";
  const onOutput = (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      lines.push(line);
      onLine(line);
    }
  };
  const scenario = path.join(import.meta.dirname, "scenario.sh");
  const child = await startProcess("bash", [scenario], { env, cwd: work, onOutput });
  await child.exited;
  return lines;
}
