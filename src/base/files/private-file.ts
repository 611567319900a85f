import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat, writeFile } from "node:fs/promises";

/**
 * Writes a file completely or not at all: readers never see a part of it, even if the disk is full. By default only its
 * owner may read it.
 */
export async function writeWhole(file: string, text: string, mode = 0o600): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await writeFile(unfinished, text, { mode, flag: "wx" });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
}

/** Windows has no permission bits: every file looks readable by all. */
const HAS_MODES = process.platform !== "win32";
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

/**
 * The text of a key or token file. Undefined if the file does not exist. Throws if users other than the owner have any
 * access to it, as ssh does: such a key may have been copied.
 */
export async function readPrivate(file: string): Promise<string | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    rejectShared(file, await handle.stat());
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Throws if a key or token file exists and is not private. */
export async function requirePrivate(file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (found) rejectShared(file, found);
}

function rejectShared(file: string, { mode }: Stats): void {
  if (!HAS_MODES || (mode & OTHERS) === 0) return;
  throw new Error(
    `${file} is accessible to other users (mode ${octal(mode)}); delete it to get a new one, or run: chmod 600 ${file}`,
  );
}

/** Throws if users other than the owner can write to the folder: they could replace the keys in it. */
export async function checkPrivateFolder(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if (HAS_MODES && (mode & OTHERS_WRITE) !== 0) {
    throw new Error(
      `${folder} is writable by other users (mode ${octal(mode)}), who could replace the keys in it; run: chmod 700 ${folder}`,
    );
  }
}

/** Throws like `checkPrivateFolder`, and if the folder belongs to another user: programs in it are run. */
export async function checkOwnFolder(folder: string): Promise<void> {
  await checkPrivateFolder(folder);
  const { uid } = await stat(folder);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) throw new Error(`${folder} belongs to another user (uid ${uid}); delete it`);
}
