import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { isObject } from "../../../base/api/object.ts";
import { writeWhole } from "../../../base/files/private-file.ts";
import { DEFAULT_CERT_DIR } from "../../../serving/options.ts";
import { Failure, type Io } from "../command.ts";

/** The record of a local control plane in its data folder. */
export interface Instance {
  /** The process of the server. Omitted after it stopped. */
  readonly pid?: number;
  readonly url: string;
  readonly port: number;
  /** Start time in RFC 3339. */
  readonly since: string;
  readonly version: string;
  /** "memory", the SQLite file, or the URLs of etcd. */
  readonly store: string;
  /** The value of `--controllers`. */
  readonly controllers: string;
  /** Whether the scheduler runs. Omitted by earlier versions. */
  readonly scheduler?: boolean;
  /** The number of nodes that the start asked for. Omitted by earlier versions. */
  readonly simulatedNodes?: number;
  /** The kubeconfig that the context was merged into, if any. */
  readonly merged?: MergedContext;
}

/** A context that Binnacle merged into the user's kubeconfig. */
export interface MergedContext {
  readonly file: string;
  readonly context: string;
  /** The previous `current-context`. */
  readonly previous?: string;
}

/** The data folder of a local control plane: keys, kubeconfig and objects. */
export interface DataFolder {
  readonly path: string;
  readonly objects: string;
  readonly kubeconfig: string;
  readonly log: string;
}

const RECORD = "instance.json";

/** Whether `Instance.store` contains the URLs of etcd. SQLite files have absolute paths. */
export const isEtcd = (store: string): boolean => /^https?:\/\//.test(store);

/** Adds `--data-dir`. */
export function addDataFlag(command: Command): Command {
  return command.option(
    "--data-dir <folder>",
    "folder for keys, kubeconfig and objects (default: $BINNACLE_DATA_DIR or binnacle-data)",
    undefined,
  );
}

/** The folder of the flag or the environment. Default: `binnacle-data` in the working directory. */
export function dataFolder(flag: string | undefined, { env, cwd }: Pick<Io, "env" | "cwd">): DataFolder {
  const folder = path.resolve(cwd, flag ?? env.BINNACLE_DATA_DIR ?? DEFAULT_CERT_DIR);
  const at = (name: string) => path.join(folder, name);
  return { path: folder, objects: at("objects.db"), kubeconfig: at("kubeconfig"), log: at("binnacle.log") };
}

/** Creates the folder with mode 0700 and a `.gitignore` for everything in it. */
export async function prepareFolder({ path: folder }: DataFolder): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) {
    throw new Failure(
      `--data-dir=${folder}: is a file, expected a folder`,
      "Set another folder; it is created if it does not exist.",
    );
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (found && (found.mode & 0o077) !== 0) await chmod(folder, 0o700);
    await writeWhole(path.join(folder, ".gitignore"), "*\n");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Failure(
      `--data-dir=${folder}: is not writable (${code})`,
      "Set a writable folder, or use no folder: binnacle run -- COMMAND",
    );
  }
}

/** Reads the record of the control plane that was last started in the folder. */
export async function readInstance({ path: folder }: DataFolder): Promise<Instance | undefined> {
  const text = await readFile(path.join(folder, RECORD), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value.url !== "string") return undefined;
    // 0, -1 and other negative ids would mean process groups.
    const { pid } = value;
    if (pid !== undefined && !(Number.isSafeInteger(pid) && Number(pid) > 1)) return undefined;
    return value as unknown as Instance;
  } catch {
    return undefined;
  }
}

/** Writes the record. */
export async function writeInstance({ path: folder }: DataFolder, instance: Instance): Promise<void> {
  await writeWhole(path.join(folder, RECORD), `${JSON.stringify(instance, null, 2)}\n`);
}
