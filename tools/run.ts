import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import path from "node:path";
import { isMissing, requireTool } from "../test/support/tools.ts";
import { GROUPS, type Group, type Program } from "./run-table.ts";

const root = path.join(import.meta.dirname, "..");

/** Starts Node in the root of the repository and resolves to its exit code, 128 + N after signal N, as shells do. */
export async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node = process.execPath,
): Promise<number> {
  const child = spawn(node, args, { cwd: root, stdio: "inherit", env: { ...env, ...process.env } });
  const forget = passSignalsOn(child);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  forget();
  return code ?? 128 + constants.signals[signal ?? "SIGKILL"];
}

/** A terminal sends Ctrl-C to the child as well, so SIGINT is not passed on: servers take a second one as an order to exit at once. */
function passSignalsOn(child: ChildProcess): () => void {
  const ignore = () => {};
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on("SIGINT", ignore).on("SIGTERM", passOn).on("SIGHUP", passOn);
  return () => process.off("SIGINT", ignore).off("SIGTERM", passOn).off("SIGHUP", passOn);
}

/** The first exit code that is not 0 ends it. */
async function runProgram(program: Program, args: readonly string[]): Promise<number> {
  const { files = [], tests = [], nodeFlags = [], env, needsBuild = false } = program;
  const node = program.node === undefined ? process.execPath : requireTool(program.node);
  if (needsBuild) {
    const code = await runNode(["tools/build.ts"]);
    if (code !== 0) return code;
  }
  const calls = files.map((file) => [...nodeFlags, file, ...args]);
  if (tests.length > 0) calls.push([...nodeFlags, "--test", ...args, ...tests]);
  for (const call of calls) {
    const code = await runNode(call, env, node);
    if (code !== 0) return code;
  }
  return 0;
}

/** Runs the programs one after the other; a failure does not keep the others from running. */
async function runAll({ programs }: Group): Promise<number> {
  const failed: string[] = [];
  for (const program of programs) {
    const missing = program.needs?.filter(isMissing) ?? [];
    if (missing.length > 0) print(`${program.name}: skipped, needs ${missing.join(", ")} (tools/provide)`);
    else if ((await runProgram(program, [])) !== 0) failed.push(program.name);
  }
  if (failed.length > 0) complain(`failed: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
}

function list(script: string, { does, programs, withoutName }: Group): string {
  const width = Math.max(...programs.map(({ name }) => name.length));
  const all = withoutName === "run all" ? ` Without NAME, all of them.` : "";
  return [
    `npm run ${script} NAME [-- ARGUMENT...]`,
    `${does}${all}`,
    "",
    ...programs.map((program) => `  ${program.name.padEnd(width)}  ${program.does}`),
  ].join("\n");
}

async function main([script = "", name, ...args]: readonly string[]): Promise<number> {
  const group = GROUPS[script];
  if (group === undefined) {
    complain(`no group "${script}"; groups: ${Object.keys(GROUPS).join(", ")}`);
    return 1;
  }
  if (name === undefined && group.withoutName === "run all") return runAll(group);
  if (name === undefined || name === "--help") {
    print(list(script, group));
    return 0;
  }
  const program = group.programs.find((one) => one.name === name);
  if (program !== undefined) return runProgram(program, args);
  complain(`npm run ${script}: no program "${name}"\n\n${list(script, group)}`);
  return 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
