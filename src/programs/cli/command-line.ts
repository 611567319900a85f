import { Command, CommanderError } from "commander";
import { parseBool } from "../../base/go/parse-bool.ts";
import { type CommandRow, type Example, Failure, hint, type Io, printFailure } from "./command.ts";
import { programName } from "./program-name.ts";
import { COMMANDS } from "./table.ts";
import { introduction, usageFailure } from "./usage.ts";

/** Examples at the top of `binnacle --help`. */
const EXAMPLES: readonly Example[] = [
  ["Start a control plane and configure kubectl for it", "binnacle up"],
  ["Run tests with a temporary control plane", "binnacle run -- npm test"],
  ["Show what manifests would change in a cluster, based on a dump", "binnacle diff -f manifests/ --state dump.yaml"],
];

/**
 * Runs the command of the arguments. Resolves to the exit code. A failure is printed to standard error: its cause, and in a second
 * line what to do about it.
 */
export async function runCommandLine(
  args: readonly string[] = process.argv.slice(2),
  io: Io = processIo(),
): Promise<number> {
  let used: Command | undefined;
  try {
    const words = normalize(args);
    const { program, command } = await programFor(words, io);
    used = command;
    const known = withoutHelpOfUnknown(words, command);
    await program.parseAsync(command ? readSwitches(known, command) : known, { from: "user" });
    return io.exitCode;
  } catch (error) {
    const isHelp =
      error instanceof CommanderError && ["commander.helpDisplayed", "commander.help"].includes(error.code);
    if (isHelp) return error.exitCode;
    const failure = error instanceof CommanderError ? await usageFailure(error, args, used) : error;
    printFailure(failure, io);
    return COMMANDS.find(({ name }) => name === args[0])?.failureCode ?? 1;
  }
}

/** `help serve` means `serve --help`, `--version` means `version`, and no arguments mean `--help`. */
function normalize(args: readonly string[]): string[] {
  const [first, ...rest] = args;
  if (first === undefined || first === "help") return [...rest, "--help"];
  if (first === "--version" || first === "-V") return ["version"];
  return [...args];
}

/** With `--help`, commander prints general help for a command that does not exist. Without it, it fails with a suggestion. */
function withoutHelpOfUnknown(words: readonly string[], command: Command | undefined): readonly string[] {
  const [first = "", second = ""] = words;
  const isName = (word: string) => word !== "" && !word.startsWith("-");
  if (!command) return isName(first) ? [first] : words;
  const isUnknown =
    command.commands.length > 0 && isName(second) && !command.commands.some((one) => one.name() === second);
  return isUnknown ? [first, second] : words;
}

/** Builds the commander program with all commands. Only the flags of the used command are loaded. */
async function programFor(args: readonly string[], io: Io): Promise<{ program: Command; command?: Command }> {
  const program = new Command("binnacle")
    .helpCommand(false)
    .helpOption("-h, --help", "show help")
    .addHelpText(
      "before",
      hint(introduction("An API server that is wire-compatible with kube-apiserver", EXAMPLES), io),
    )
    .addHelpText("after", "\nDocumentation: docs/README.md in the package.");
  prepare(program, io);
  let used: Command | undefined;
  for (const row of COMMANDS) {
    const command = program
      .command(row.name)
      .summary(row.summary)
      .helpGroup(row.group)
      .helpOption("-h, --help", "show help");
    prepare(command, io);
    if (row.name !== args[0]) continue;
    await fill(command, row, io);
    used = command;
  }
  return { program, ...(used && { command: used }) };
}

/** Makes flags that have no value in commander accept `--flag=true` and `--flag=false`. */
function readSwitches(args: readonly string[], command: Command): string[] {
  const end = args.indexOf("--") < 0 ? args.length : args.indexOf("--");
  const switches = [command, ...command.commands].flatMap(({ options }) =>
    options.filter(({ required, optional }) => !required && !optional),
  );
  const read = args.slice(0, end).flatMap((arg) => {
    const [, flag, value = ""] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    if (flag === undefined || !switches.some(({ long }) => long === flag)) return [arg];
    const on = parseBool(value);
    if (on === undefined) throw new Failure(`${arg}: expected true or false`, `See: binnacle ${args[0]} --help`);
    return on ? [flag] : [];
  });
  return [...read, ...args.slice(end)];
}

async function fill(command: Command, row: CommandRow, io: Io): Promise<void> {
  const { configure, examples } = await row.load();
  configure(command, io, COMMANDS);
  command.addHelpText("before", hint(introduction(row.summary, examples), io));
  for (const inner of command.commands) prepare(inner, io);
}

function prepare(command: Command, io: Io): void {
  command.exitOverride().configureOutput({ writeOut: io.print, writeErr: io.complain, outputError: () => {} });
}

function processIo(): Io {
  process.stdout.on("error", endUnread);
  return {
    print: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY === true,
    env: process.env,
    cwd: process.cwd(),
    program: programName({ file: process.argv[1] ?? "", env: process.env, cwd: process.cwd() }),
    exitCode: 0,
  };
}

/** The exit code of a shell for SIGPIPE. With `pipefail`, an unread diff is not mistaken for an empty one. */
const UNREAD = 141;

/** Standard output is closed, as in `binnacle plugins | head`. Commands that handle signals (servers, `run`) continue. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  if (process.listenerCount("SIGTERM") === 0) process.exit(UNREAD);
}
