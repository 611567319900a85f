import path from "node:path";
import { type Command, Option } from "commander";
import { systemClock } from "../lib/clock.ts";
import type { Config } from "../server/config.ts";
import { PACKAGE_VERSION, release } from "../server/release.ts";
import type { Server } from "../server/server.ts";
import { type Example, Failure, type Io } from "./command.ts";
import {
  addDataFlag,
  type DataFolder,
  dataFolder,
  type Instance,
  prepareFolder,
  readInstance,
  writeInstance,
} from "./local/data-folder.ts";
import { detach } from "./local/detach.ts";
import { portOrAny } from "./local/free-port.ts";
import { changeKubeconfig, mergeKubeconfig, stepBack, usualKubeconfig } from "./local/merge-kubeconfig.ts";
import { findRunning } from "./local/running.ts";
import { describeActivity } from "./local/summary.ts";
import { logOf } from "./log-flags.ts";
import { addServeFlags, configOf, type ServeFlags } from "./serve-flags.ts";
import { serveUntilStopped } from "./serving.ts";
import { checkFiles } from "./start/check-files.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Start, and set up kubectl; Ctrl-C stops it, and objects stay", "binnacle up"],
  ["The same in the background, until binnacle down", "binnacle up --detach"],
  ["Objects are gone when it stops", "binnacle up --memory"],
  ["See every request", "binnacle up --log-level debug"],
  ["Leave ~/.kube/config alone", "binnacle up --no-merge"],
];

interface UpFlags extends ServeFlags {
  dataDir?: string;
  memory?: true;
  detach?: true;
  merge: boolean;
  context: string;
}

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
  await serve(flags, command.getOptionValueSource("securePort") === "cli", folder, io);
}

async function serve(flags: UpFlags, isPortGiven: boolean, folder: DataFolder, io: Io): Promise<void> {
  const before = await readInstance(folder);
  const config: Config = {
    ...(await configOf({ ...flags, certDir: folder.path })),
    ...(flags.etcdServers === undefined && { store: storeOf(flags, folder) }),
    ...(!isPortGiven && { securePort: await portOrAny(before?.port ?? flags.securePort, flags.bindAddress) }),
  };
  let instance: Instance | undefined;
  if (io.isTerminal) io.print("Starting…");
  await serveUntilStopped({
    config,
    log: logOf(flags).log,
    async ready(server) {
      instance = instanceOf(server, config);
      await writeInstance(folder, instance);
      const merged = flags.merge ? await merge(folder, flags.context, before, io) : undefined;
      instance = { ...instance, ...(merged && { merged }) };
      await writeInstance(folder, instance);
      const text = `${announcement(instance, folder, io)}\n`;
      io.print(io.isTerminal ? `\r${text}` : text);
      // Who started this process in the background waits for it, and goes.
      process.send?.(text);
    },
    stopping: () => io.print("Stopping: open requests may end; a second signal ends at once.\n"),
  });
  if (instance) await leave(instance, folder);
  io.print(
    config.store.type === "sqlite" ? `Stopped. Objects stay in ${shown(config.store.file, io)}.\n` : "Stopped.\n",
  );
}

const storeOf = ({ memory }: UpFlags, { objects }: DataFolder): Config["store"] =>
  memory ? { type: "memory" } : { type: "sqlite", file: objects };

function instanceOf({ url }: Server, { store, controllers }: Config): Instance {
  return {
    pid: process.pid,
    url,
    port: Number(new URL(url).port),
    since: new Date(systemClock.now()).toISOString(),
    version: PACKAGE_VERSION,
    store: store.type === "memory" ? "memory" : store.type === "sqlite" ? store.file : store.servers.join(","),
    controllers,
  };
}

/** A kubeconfig that cannot be merged is no reason not to start. */
async function merge(folder: DataFolder, context: string, before: Instance | undefined, io: Io) {
  try {
    const merged = await mergeKubeconfig(usualKubeconfig(io), folder.kubeconfig, context);
    // A process that was killed left ours current: what was before it still is what was before.
    const isOurs = merged.previous === context;
    return isOurs ? { ...merged, previous: before?.merged?.previous } : merged;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.complain(`binnacle: ${error.message}\n  ${error.next}\n`);
    return undefined;
  }
}

/** Says that nobody serves from the folder any more, and makes the user's own context current again. */
async function leave({ pid: _, ...instance }: Instance, folder: DataFolder): Promise<void> {
  const { merged } = instance;
  if (merged)
    await changeKubeconfig(merged.file, (known) => stepBack(known, merged.context, merged.previous)).catch(() => {});
  // Whoever deleted the folder meanwhile wants no new one.
  await writeInstance(folder, instance).catch(() => {});
}

function announcement({ url, store, merged, controllers }: Instance, folder: DataFolder, io: Io): string {
  const kubectl = merged ? "kubectl" : `kubectl --kubeconfig ${shown(folder.kubeconfig, io)}`;
  return [
    `Binnacle ${PACKAGE_VERSION} serves ${url}, compatible with Kubernetes ${release.version}.`,
    `Objects:      ${store === "memory" ? "in memory, gone when it stops" : shown(store, io)}`,
    `Kubeconfig:   ${shown(folder.kubeconfig, io)}${merged ? `, and context ${JSON.stringify(merged.context)} in ${merged.file}, which is current now` : ""}`,
    describeActivity(controllers),
    `Try:          ${kubectl} get namespaces`,
    process.send ? "Stop it:      binnacle down" : "Stop it:      Ctrl-C, or binnacle down",
  ].join("\n");
}

/** Relative where that is shorter. */
function shown(file: string, { cwd }: Io): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") ? file : relative;
}

const camel = (flag: string): string => flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
