import { execFile } from "node:child_process";
import { tokens } from "./oracle.ts";
import { type RunningProcess, startProcess } from "./process.ts";
import { requireTool } from "./tools.ts";

/** Output and exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands of kubectl, or of another program, against one server. */
export type Kubectl = (
  args: readonly string[],
  options?: { input?: string; timeoutMs?: number; env?: Readonly<Record<string, string>> },
) => Promise<CommandResult>;

function commonFlags(kubeconfig: string): string[] {
  return [`--kubeconfig=${kubeconfig}`, `--cache-dir=${kubeconfig}.cache`];
}

/** Starts a kubectl command that runs until it is killed. */
export function startKubectl(
  kubeconfig: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  return startProcess(requireTool("kubectl"), [...commonFlags(kubeconfig), ...args], {
    env: { ...process.env, ...env },
  });
}

/** kubectl with a kubeconfig and its own discovery cache. */
export function kubectlFor(kubeconfig: string): Kubectl {
  return commandsOf(requireTool("kubectl"), commonFlags(kubeconfig));
}

/** helm with a kubeconfig and its own folders. */
export function helmFor(kubeconfig: string): Kubectl {
  const folders = Object.fromEntries(
    ["CACHE", "CONFIG", "DATA"].map((name) => [`HELM_${name}_HOME`, `${kubeconfig}.helm/${name}`]),
  );
  return commandsOf(requireTool("helm"), [`--kubeconfig=${kubeconfig}`], folders);
}

function commandsOf(
  program: string,
  common: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Kubectl {
  return (args, { input, timeoutMs = 300_000, env } = {}) =>
    new Promise((resolve) => {
      const child = execFile(
        program,
        [...common, ...args],
        { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...environment, ...env } },
        (error, stdout, stderr) => {
          const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
          resolve({ code, stdout, stderr });
        },
      );
      // A command that reads no input may have ended before it is written.
      child.stdin?.on("error", () => undefined).end(input ?? "");
    });
}

/** A kubeconfig for a server whose certificate is not verified. Default user: the administrator. */
export function kubeconfigFor(
  server: string,
  { user = { token: tokens.admin }, namespace }: { user?: Readonly<Record<string, unknown>>; namespace?: string } = {},
) {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "main", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "admin", user }],
    contexts: [{ name: "main", context: { cluster: "main", user: "admin", ...(namespace && { namespace }) } }],
  };
}
