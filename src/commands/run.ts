import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { type Example, Failure, type Io } from "./command.ts";
import { logOf } from "./log-flags.ts";
import { addServeFlags, configOf, type ServeFlags } from "./serve-flags.ts";
import { checkFiles } from "./start/check-files.ts";
import { explainStart } from "./start/explain-start.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Tests with a control plane of their own: KUBECONFIG names it", "binnacle run -- npm test"],
  ["With flags of the server before the dashes", "binnacle run --custom-objects defined -- go test ./..."],
];

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a program with a control plane that lives as long as it. */
export function configure(command: Command, io: Io): void {
  command.argument("<command...>", "what to run, with its arguments, behind --");
  addServeFlags(command);
  for (const option of command.options) option.hideHelp();
  command.addHelpText("after", "\nEvery flag of binnacle serve may stand before the dashes.");
  command.action((program: string[], flags: ServeFlags) => run(program, flags, command, io));
}

async function run(program: readonly string[], flags: ServeFlags, command: Command, io: Io): Promise<void> {
  await checkFiles(command, io.cwd);
  const isGiven = (name: string) => command.getOptionValueSource(name) === "cli";
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-run-"));
  try {
    const [{ startServer }, { systemEnvironment }] = await Promise.all([
      import("../server/server.ts"),
      import("../server/system-environment.ts"),
    ]);
    const config = await configOf({
      ...flags,
      certDir: isGiven("certDir") ? flags.certDir : folder,
      securePort: isGiven("securePort") ? flags.securePort : 0,
    });
    // The program's own output is what is looked at.
    const level = isGiven("logLevel") ? logOf(flags).log.level : "error";
    const environment = systemEnvironment({ ...logOf(flags).log, level });
    await using server = await startServer({ ...config, shutdownGraceMs: 0 }, environment).catch(async (error) => {
      throw await explainStart(error, config);
    });
    io.exitCode = await runProgram(program, { ...io.env, KUBECONFIG: server.kubeconfigFile });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves to the code that it ends with, as a shell has it for signals. */
async function runProgram([name = "", ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(name, args, { stdio: "inherit", env });
  child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  child.once("error", (error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such program" : `cannot be run (${error.code})`;
    reject(new Failure(`${name}: ${why}`, "The program and its arguments follow the dashes: binnacle run -- npm test"));
  });
  // A terminal sends Ctrl-C to both; only what is sent to this process alone must be passed on.
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
