import { type Command, Option } from "commander";
import { type Example, Failure, type Io } from "./command.ts";
import { addDataFlag, dataFolder, prepareFolder } from "./local/data-folder.ts";
import { detach } from "./local/detach.ts";
import type { UpFlags } from "./local/foreground.ts";
import { findRunning } from "./local/running.ts";
import { addServeFlags } from "./serve-flags.ts";
import { checkFiles } from "./start/check-files.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Start, and set up kubectl; Ctrl-C stops it, and objects stay", "binnacle up"],
  ["The same in the background, until binnacle down", "binnacle up --detach"],
  ["Objects are gone when it stops", "binnacle up --memory"],
  ["See every request", "binnacle up --log-level debug"],
  ["Leave ~/.kube/config alone", "binnacle up --no-merge"],
];

/** Flags of `serve` that are listed by `up --help`; all others work, too. */
const LISTED = ["--secure-port", "--bind-address", "--controllers", "--log-level", "--log-format"];
/** Flags of `serve` that have no meaning where the folder says it all. */
const TAKEN = ["--store", "--cert-dir"];

/** Adds what is special about a local control plane, and all flags of a server. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command.optionsGroup("The local control plane:"))
    .option("--memory", "keep objects in memory: they are gone when it stops")
    .option("-d, --detach", "return when it is ready, and leave it running")
    .option("--context <name>", "name of the context in your kubeconfig", "binnacle")
    .option("--no-merge", "leave your kubeconfig alone; there is one in the data folder");
  addServeFlags(command);
  for (const option of command.options) {
    const isServing = option.helpGroupHeading !== "The local control plane:";
    if (isServing && !LISTED.includes(option.long ?? "")) option.hideHelp();
    if (LISTED.includes(option.long ?? "")) option.helpGroup("Of the flags of binnacle serve, which all work here:");
  }
  command.addOption(new Option("--foreground-of-detached", "is how --detach starts itself").hideHelp());
  command.action((flags: UpFlags) => up(flags, command, io));
}

async function up(flags: UpFlags, command: Command, io: Io): Promise<void> {
  const refused = TAKEN.find((flag) => command.getOptionValueSource(camel(flag)) === "cli");
  if (refused !== undefined) {
    throw new Failure(
      `${refused} is no flag of up: --data-dir says where everything is`,
      "With every flag of kube-apiserver: binnacle serve",
    );
  }
  await checkFiles(command, io.cwd);
  const folder = dataFolder(flags.dataDir, io);
  await prepareFolder(folder);
  const running = await findRunning(folder);
  if (running) {
    io.print(`Binnacle runs already: ${running.url} (process ${running.pid}).\n  Stop it: binnacle down\n`);
    return;
  }
  if (flags.detach) {
    await detach(folder, io);
    return;
  }
  // Who only starts another process needs none of what serves.
  const { serveFrom } = await import("./local/foreground.ts");
  await serveFrom(folder, flags, command.getOptionValueSource("securePort") === "cli", io);
}

const camel = (flag: string): string => flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
