import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { isObject } from "../../../base/api/object.ts";
import { writeWhole } from "../../../base/files/private-file.ts";
import type { Io } from "../command.ts";
import { type DataFolder, dataFolder, readInstance } from "./data-folder.ts";
import { isAlive } from "./running.ts";

/** A folder of this user's state, with one file per data folder in use. */
function registryFolder({ env }: Pick<Io, "env">): string {
  const home = env.HOME ?? homedir();
  const state = env.XDG_STATE_HOME || env.LOCALAPPDATA || path.join(home, ".local", "state");
  return path.join(state, "binnacle", "instances");
}

function fileOf(folder: DataFolder, io: Pick<Io, "env">): string {
  const name = createHash("sha256").update(folder.path).digest("hex").slice(0, 32);
  return path.join(registryFolder(io), `${name}.json`);
}

/** Records that a control plane runs in a data folder. A failure is ignored: only `status --all` needs the record. */
export async function register(folder: DataFolder, io: Pick<Io, "env">): Promise<void> {
  try {
    await mkdir(registryFolder(io), { recursive: true, mode: 0o700 });
    await writeWhole(fileOf(folder, io), `${JSON.stringify({ dataDir: folder.path })}\n`);
  } catch {
    // For example a read-only home folder.
  }
}

/** Removes the record. */
export async function unregister(folder: DataFolder, io: Pick<Io, "env">): Promise<void> {
  await rm(fileOf(folder, io), { force: true }).catch(() => {});
}

/**
 * The recorded data folders. Whether a control plane runs in them is not checked: use `findRunning`. Records of processes
 * that no longer exist are removed.
 */
export async function registered(io: Pick<Io, "env" | "cwd">): Promise<DataFolder[]> {
  const place = registryFolder(io);
  const names = await readdir(place).catch(() => []);
  const folders: DataFolder[] = [];
  for (const name of names.filter((one) => one.endsWith(".json")).sort()) {
    const folder = await readRecord(path.join(place, name), io);
    if (!folder) continue;
    const pid = (await readInstance(folder))?.pid;
    if (pid !== undefined && isAlive(pid)) folders.push(folder);
    else await unregister(folder, io);
  }
  return folders;
}

async function readRecord(file: string, io: Pick<Io, "env" | "cwd">): Promise<DataFolder | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(file, "utf8"));
    const { dataDir } = isObject(record) ? record : {};
    return typeof dataDir === "string" && path.isAbsolute(dataDir) ? dataFolder(dataDir, io) : undefined;
  } catch {
    return undefined;
  }
}
