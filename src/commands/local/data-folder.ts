import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { isObject } from "../../api/object.ts";
import { writeWhole } from "../../http/private-file.ts";
import { DEFAULT_CERT_DIR } from "../../server/config.ts";
import { Failure, type Io } from "../command.ts";

/** What a local control plane leaves in its folder about itself. */
export interface Instance {
  /** The process that serves. Absent: it was told to stop, and did. */
  readonly pid?: number;
  readonly url: string;
  readonly port: number;
  /** When it was started, as RFC 3339 has it. */
  readonly since: string;
  readonly version: string;
  /** "memory", or the file. */
  readonly store: string;
  /** What `--controllers` was. */
  readonly controllers: string;
  /** The kubeconfig that the context was merged into, if one was. */
  readonly merged?: MergedContext;
}

/** An entry of the user's own kubeconfig that is ours. */
export interface MergedContext {
  readonly file: string;
  readonly context: string;
  /** What was `current-context` before. */
  readonly previous?: string;
}

/** A folder with keys, kubeconfig and objects of a local control plane. */
export interface DataFolder {
  readonly path: string;
  readonly objects: string;
  readonly kubeconfig: string;
  readonly log: string;
}

const RECORD = "instance.json";

/** Adds `--data-dir`. */
export function addDataFlag(command: Command): Command {
  return command.option("--data-dir <folder>", "where keys, kubeconfig and objects are; BINNACLE_DATA_DIR", undefined);
}

/** The folder that a flag or the environment names; else `binnacle-data` in the current one. */
export function dataFolder(flag: string | undefined, { env, cwd }: Pick<Io, "env" | "cwd">): DataFolder {
  const folder = path.resolve(cwd, flag ?? env.BINNACLE_DATA_DIR ?? DEFAULT_CERT_DIR);
  const at = (name: string) => path.join(folder, name);
  return { path: folder, objects: at("objects.db"), kubeconfig: at("kubeconfig"), log: at("binnacle.log") };
}

/** Makes the folder for its owner only, and keeps git from taking its private keys. */
export async function prepareFolder({ path: folder }: DataFolder): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) {
    throw new Failure(`--data-dir=${folder}: is a file`, "Name a folder; it is made if need be.");
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (found && (found.mode & 0o077) !== 0) await chmod(folder, 0o700);
    await writeWhole(path.join(folder, ".gitignore"), "*\n");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Failure(
      `--data-dir=${folder}: cannot be written to (${code})`,
      "Name a folder of yours, or keep everything in memory: binnacle run -- COMMAND",
    );
  }
}

/** What the folder says about the control plane that was started there last. */
export async function readInstance({ path: folder }: DataFolder): Promise<Instance | undefined> {
  const text = await readFile(path.join(folder, RECORD), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value.url === "string" ? (value as unknown as Instance) : undefined;
  } catch {
    return undefined;
  }
}

/** Says who serves from the folder. */
export async function writeInstance({ path: folder }: DataFolder, instance: Instance): Promise<void> {
  await writeWhole(path.join(folder, RECORD), `${JSON.stringify(instance, null, 2)}\n`);
}
