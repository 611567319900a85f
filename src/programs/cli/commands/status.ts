import { stat } from "node:fs/promises";
import { type Command, Option } from "commander";
import { type Example, hint, type Io } from "../command.ts";
import { addDataFlag, type DataFolder, dataFolder, isEtcd } from "../local/data-folder.ts";
import { registered } from "../local/registry.ts";
import { findRunning } from "../local/running.ts";
import { activityOf, describeActivity } from "../local/summary.ts";
import { printTable } from "../table-text.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Show whether a server is running; the exit code is 3 if not", "binnacle status"],
  ["List the servers of all folders", "binnacle status --all"],
  ["Print JSON", "binnacle status --output json"],
];

/** The exit code of `systemctl status` for a stopped unit. */
const NOT_RUNNING = 3;

interface StatusFlags {
  readonly dataDir?: string;
  readonly all?: true;
  readonly output: "text" | "json";
}

/** Prints the status of a local control plane, or of all of this user. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("--all", "list the running control planes of all folders")
    .addOption(new Option("-o, --output <form>", "output format").choices(["text", "json"]).default("text"))
    .action(async ({ dataDir, all, output }: StatusFlags) => {
      const folder = dataFolder(dataDir, io);
      await (all ? printAll(folder, output, io) : printOne(folder, output, io));
    });
}

type Running = NonNullable<Awaited<ReturnType<typeof findRunning>>>;

async function printOne(folder: DataFolder, output: StatusFlags["output"], io: Io): Promise<void> {
  const running = await findRunning(folder);
  if (!running) io.exitCode = NOT_RUNNING;
  if (output === "json") {
    const facts = running ? await factsOf(folder, running) : { running: false, dataDir: folder.path };
    io.print(`${JSON.stringify(facts, null, 2)}\n`);
  } else if (!running) {
    io.print(`No server is running in ${folder.path}.\n  Start one: ${io.program} up --detach\n`);
  } else {
    const { url, pid, since, store } = running;
    io.print(`Serving ${url} (process ${pid}, since ${since}).\n`);
    io.print(`Objects:      ${describeStore(store, await sizeOf(store))}\n`);
    io.print(`Kubeconfig:   ${folder.kubeconfig}\n${hint(describeActivity(running), io)}\n`);
  }
}

/** Every record is checked like a single folder: a server must report the process id of the folder. */
async function printAll(folder: DataFolder, output: StatusFlags["output"], io: Io): Promise<void> {
  const others = (await registered(io)).filter((one) => one.path !== folder.path);
  const found = await Promise.all([folder, ...others].map(async (one) => [one, await findRunning(one)] as const));
  const running = found.filter((one): one is [DataFolder, Running] => one[1] !== undefined);
  if (running.length === 0) io.exitCode = NOT_RUNNING;
  if (output === "json") {
    const facts = await Promise.all(running.map(([one, instance]) => factsOf(one, instance)));
    io.print(`${JSON.stringify(facts, null, 2)}\n`);
  } else if (running.length === 0) {
    io.print(`No server is running.\n  Start one: ${io.program} up --detach\n`);
  } else {
    const rows = running.map(([{ path }, { url, pid, since }]) => [url, String(pid), since, path]);
    io.print(printTable([["URL", "PROCESS", "SINCE", "DATA FOLDER"], ...rows]).replace(/^ {2}/gm, ""));
    io.print(`\nStop one: ${io.program} down --data-dir FOLDER\n`);
  }
}

async function factsOf(folder: DataFolder, running: Running): Promise<object> {
  return {
    ...{ running: true, ...running, bytes: await sizeOf(running.store) },
    ...{ dataDir: folder.path, kubeconfig: folder.kubeconfig, ...activityOf(running) },
  };
}

function describeStore(store: string, bytes: number | undefined): string {
  if (store === "memory") return "in memory, lost when the server stops";
  return bytes === undefined ? `etcd at ${store}` : `${store}, ${bytes} bytes`;
}

/** The size of a SQLite file, including the write-ahead log. Undefined for other stores. */
async function sizeOf(file: string): Promise<number | undefined> {
  if (file === "memory" || isEtcd(file)) return undefined;
  const files = [file, `${file}-wal`].map((one) => stat(one).catch(() => undefined));
  return (await Promise.all(files)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
}
