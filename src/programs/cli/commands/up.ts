import { type Command, Option } from "commander";
import { serverSections } from "../../server/options.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addFlags, flagsOf } from "../flags/declared-flags.ts";
import { addServeFlags, nodesFlag } from "../flags/serve-flags.ts";
import { addDataFlag, dataFolder, prepareFolder } from "../local/data-folder.ts";
import { detach } from "../local/detach.ts";
import type { UpFlags } from "../local/foreground.ts";
import { findRunning } from "../local/running.ts";
import { checkFiles } from "../start/check-files.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Start a server and configure kubectl; Ctrl-C stops it, objects are kept", "binnacle up"],
  ["Run it in the background until binnacle down", "binnacle up --detach"],
  ["Simulate three nodes instead of one", "binnacle up --nodes 3"],
  ["Keep objects in memory only", "binnacle up --memory"],
  ["Log every request", "binnacle up --log-level debug"],
  ["Do not change ~/.kube/config", "binnacle up --no-merge"],
];

/** Flags of `serve` in `up --help`. The others are accepted, but hidden. */
const LISTED = ["--secure-port", "--bind-address", "--controllers", "--log-level", "--log-format"];
/** Options whose defaults differ from those of `serve`. */
const OWN_DEFAULTS: ReadonlyMap<string, string> = new Map([
  ["securePort", "the port of the last start or 6443; if it is in use, a free port"],
  ["controllers", "*"],
]);
const SECTIONS = serverSections.map((section) => {
  const options = Object.entries(section.options).map(([name, option]) => {
    const shownDefault = OWN_DEFAULTS.get(name);
    return [name, shownDefault === undefined ? option : { ...option, shownDefault }];
  });
  return { ...section, options: Object.fromEntries(options) as typeof section.options };
});
/** Flags of `serve` that `--data-dir` replaces, and what to do instead. */
const TAKEN = {
  store: {
    flag: "--store",
    stored: "objects",
    next: "Use --memory, --data-dir FOLDER or --etcd-servers URL, or use binnacle serve.",
  },
  certDir: { flag: "--cert-dir", stored: "certificates", next: "Use --data-dir FOLDER, or use binnacle serve." },
} as const;

/** Adds the flags of a local control plane and all flags of a server. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command.optionsGroup("Local control plane:"))
    .option("--memory", "keep objects in memory only; they are lost when the server stops")
    .option("-d, --detach", "run in the background; return when the server is ready")
    .option("--context <name>", "name of the context in your kubeconfig", "binnacle")
    .option("--no-merge", "do not change your kubeconfig; the data folder contains one")
    .option("--no-cluster", "run no scheduler and no nodes: Pods stay Pending");
  addFlags(command, nodesFlag("1"));
  addServeFlags(command, SECTIONS);
  for (const option of command.options) {
    const isServing = option.helpGroupHeading !== "Local control plane:";
    if (isServing && !LISTED.includes(option.long ?? "")) option.hideHelp();
    if (LISTED.includes(option.long ?? ""))
      option.helpGroup(
        "Flags of binnacle serve (all except --store and --cert-dir are accepted; see binnacle serve --help):",
      );
  }
  command.addOption(new Option("--foreground-of-detached", "set by --detach for the background process").hideHelp());
  command.action(() => up(flagsOf(command), command, io));
}

async function up(flags: UpFlags, command: Command, io: Io): Promise<void> {
  const [, refused] = Object.entries(TAKEN).find(([name]) => flags[name as keyof typeof TAKEN] !== undefined) ?? [];
  if (refused !== undefined) {
    throw new Failure(
      `${refused.flag} cannot be used with up: ${refused.stored} are stored in the data folder`,
      refused.next,
    );
  }
  await checkFiles(command, io.cwd);
  const folder = dataFolder(flags.dataDir, io);
  await prepareFolder(folder);
  const running = await findRunning(folder);
  if (running) {
    io.print(
      `Binnacle is already running at ${running.url} (process ${running.pid}).\n  Stop it: ${io.program} down\n`,
    );
    return;
  }
  if (flags.detach) {
    await detach(folder, io);
    return;
  }
  // The process that only starts another one does not load the server.
  const { serveFrom } = await import("../local/foreground.ts");
  await serveFrom(folder, flags, io);
}
