import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkPrivateFolder } from "./private-file.ts";

const NAME = ".lock";
const LOOK_EVERY_MS = 20;
/** A holder that lives longer is assumed to be another process with the same id, for example of another container. */
const PATIENCE_MS = 10_000;

/** The last waiter of this process, by folder. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` while holding the lock of a folder, which is created if it does not exist. Several servers may share a
 * folder; each file in it is created once. A lock whose process has ended is removed.
 */
export async function whileLocked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const place = path.resolve(folder);
  const before = queues.get(place) ?? Promise.resolve();
  const mine = before.then(() => locked(place, work));
  const settled = mine.catch(() => undefined);
  queues.set(place, settled);
  try {
    return await mine;
  } finally {
    if (queues.get(place) === settled) queues.delete(place);
  }
}

async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkPrivateFolder(folder);
  const file = path.join(folder, NAME);
  await take(file);
  try {
    await ignoreInGit(folder);
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** The folder holds private keys, so git must not track it. */
async function ignoreInGit(folder: string): Promise<void> {
  await writeFile(path.join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}

async function take(file: string): Promise<void> {
  const own = `${process.pid} ${randomUUID()}`;
  const since = performance.now();
  for (;;) {
    try {
      await writeFile(file, own, { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const held = await readFile(file, "utf8").catch(() => "");
    const isStale = held !== "" && (performance.now() - since > PATIENCE_MS || !isAlive(held));
    if (!isStale || !(await breakLock(file, held))) await sleep(LOOK_EVERY_MS);
  }
}

/**
 * Removes a lock if it is still the one that was found to be stale. Only one process at a time may do so: otherwise a
 * second one could remove the fresh lock of the first. Resolves to false if another process is doing it.
 */
export async function breakLock(file: string, stale: string): Promise<boolean> {
  const breaking = `${file}.breaking`;
  try {
    await writeFile(breaking, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // A process that ended within these few lines has left it behind.
    const { mtimeMs } = await stat(breaking).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > PATIENCE_MS) await rm(breaking, { force: true });
    return false;
  }
  try {
    if ((await readFile(file, "utf8").catch(() => "")) === stale) await rm(file, { force: true });
    return true;
  } finally {
    await rm(breaking, { force: true });
  }
}

/** Whether the process that a lock names is running. */
function isAlive(held: string): boolean {
  const pid = Number.parseInt(held, 10);
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  // This process takes one lock of a folder at a time: an earlier process with the same id has left this one.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
