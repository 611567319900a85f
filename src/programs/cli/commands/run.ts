import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { logOf } from "../../../base/log/options.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addFlags, flagsOf } from "../flags/declared-flags.ts";
import { addServeFlags, configOf, nodesFlag, type ServeFlags, simulatedCluster } from "../flags/serve-flags.ts";
import { checkFiles } from "../start/check-files.ts";
import { explainStart } from "../start/explain-start.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Run tests; KUBECONFIG points to the temporary control plane", "binnacle run -- npm test"],
  ["Simulate a cluster with three nodes", "binnacle run --nodes 3 -- helm upgrade --install --wait web ./chart"],
  ["Set flags of the server before the dashes", "binnacle run --custom-objects defined -- go test ./..."],
];

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a program with a control plane that stops with it. */
export function configure(command: Command, io: Io): void {
  command.argument("<command...>", "program and arguments, after --");
  addServeFlags(command);
  for (const option of command.options) option.hideHelp();
  addFlags(command.optionsGroup("Options:"), nodesFlag());
  command.addHelpText(
    "after",
    "\nAll flags of binnacle serve are accepted before --. Different defaults: --secure-port 0, --log-level error, and a temporary --cert-dir.",
  );
  command.action((program: string[]) => run(program, flagsOf(command), command, io));
}

interface RunFlags extends ServeFlags {
  readonly nodes?: number;
}

async function run(program: readonly string[], flags: RunFlags, command: Command, io: Io): Promise<void> {
  await checkFiles(command, io.cwd);
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-run-"));
  try {
    const [{ startWithParts }, { nodesReady }, { systemEnvironment }] = await Promise.all([
      import("../../server/server.ts"),
      import("../../../cluster/nodes/nodes-ready.ts"),
      import("../../../base/log/system-environment.ts"),
    ]);
    const cluster = flags.nodes === undefined ? {} : simulatedCluster(flags.nodes);
    const config = await configOf({ ...{ certDir: folder, securePort: 0 }, ...cluster, ...flags });
    // The log must not clutter the program's output.
    const environment = systemEnvironment(logOf({ logLevel: "error", ...flags }));
    await using server = await startWithParts({ ...config, shutdownGraceMs: 0 }, environment).catch(async (error) => {
      throw await explainStart(error, config);
    });
    await nodesReady(server.resources, config.simulatedNodes);
    io.exitCode = await runProgram(program, { ...io.env, KUBECONFIG: server.kubeconfigFile });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves to the exit code; for signals, to 128 plus their number, as in a shell. */
async function runProgram([name = "", ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(name, args, { stdio: "inherit", env });
  child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  child.once("error", (error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "program not found" : `cannot be run (${error.code})`;
    reject(
      new Failure(`${name}: ${why}`, "Write the program and its arguments after the dashes: binnacle run -- npm test"),
    );
  });
  // A terminal sends Ctrl-C to both processes. Signals to this process only are forwarded.
  const forward = (signal: NodeJS.Signals): void => {
    if (!(signal === "SIGINT" && process.stdin.isTTY)) child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await promise;
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}
