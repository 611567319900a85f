import { Command, CommanderError } from "commander";
import { type CommandRow, type Example, Failure, type Io } from "./commands/command.ts";
import { COMMANDS } from "./commands/table.ts";
import { introduction, usageFailure } from "./commands/usage.ts";

/** What `binnacle --help` begins with. */
const EXAMPLES: readonly Example[] = [
  ["Start a control plane, and set up kubectl for it", "binnacle up"],
  ["Give tests a control plane of their own", "binnacle run -- npm test"],
  [
    "What these manifests would change in a cluster, told from a dump of it",
    "binnacle diff -f manifests/ --state dump.yaml",
  ],
];

/**
 * Does what the arguments say, and resolves to what the process is to end with. A failure is told on standard error: its cause, and in
 * a second line what may be done about it.
 */
export async function runCommandLine(
  args: readonly string[] = process.argv.slice(2),
  io: Io = processIo(),
): Promise<number> {
  try {
    const words = normalize(args);
    const program = await programFor(words, io);
    await program.parseAsync(words, { from: "user" });
    return io.exitCode;
  } catch (error) {
    const isTold =
      error instanceof CommanderError && ["commander.helpDisplayed", "commander.help"].includes(error.code);
    if (isTold) return error.exitCode;
    const failure = error instanceof CommanderError ? usageFailure(error, args) : error;
    io.complain(`binnacle: ${failure instanceof Error ? failure.message : String(failure)}\n`);
    if (failure instanceof Failure && failure.next !== undefined) io.complain(`  ${failure.next}\n`);
    return COMMANDS.find(({ name }) => name === args[0])?.failureCode ?? 1;
  }
}

/** `help serve` means `serve --help`, `--version` means `version`, and who says nothing asks for help. */
function normalize(args: readonly string[]): string[] {
  const [first, ...rest] = args;
  if (first === undefined || first === "help") return [...rest, "--help"];
  if (first === "--version" || first === "-V") return ["version"];
  return [...args];
}

/** All commands by name; of the one that is asked for, also its flags. */
async function programFor(args: readonly string[], io: Io): Promise<Command> {
  const program = new Command("binnacle")
    .helpCommand(false)
    .helpOption("-h, --help", "of a command: what it does, with examples and flags")
    .addHelpText("before", introduction("A control plane's API, compatible with the Kubernetes API server", EXAMPLES))
    .addHelpText("after", "\nAll pages of the documentation: docs/README.md in the package.");
  prepare(program, io);
  for (const row of COMMANDS) {
    const command = program.command(row.name).summary(row.summary).helpGroup(row.group);
    prepare(command, io);
    if (row.name === args[0]) await fill(command, row, io);
  }
  return program;
}

async function fill(command: Command, row: CommandRow, io: Io): Promise<void> {
  const { configure, examples } = await row.load();
  configure(command, io, COMMANDS);
  command.addHelpText("before", introduction(row.summary, examples));
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
    exitCode: 0,
  };
}

/** As a shell has it for programs that SIGPIPE ends. With `pipefail` nobody takes a diff that was not told for an empty one. */
const UNREAD = 141;

/** `binnacle plugins | head`: nobody reads any more. What listens for signals, a server or a program's, goes on. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  if (process.listenerCount("SIGTERM") === 0) process.exit(UNREAD);
}
