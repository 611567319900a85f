import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeWhole } from "./private-file.ts";

const NAME = ".lock";
const LOOK_EVERY_MS = 20;
/** A holder that is alive for longer is taken for another process with the same id, as in another container. */
const PATIENCE_MS = 10_000;

/** Who of this process comes next, by folder. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Does something in a folder, which is made if need be, while nobody else does who asks for it here: several servers may
 * share a folder, and each thing in it is made once. A lock whose process is gone is taken over.
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
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, NAME);
  await take(file);
  try {
    // What is made here holds private keys, which git must not take.
    if (made !== undefined) await writeWhole(path.join(folder, ".gitignore"), "*\n");
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  const since = performance.now();
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (performance.now() - since > PATIENCE_MS || !(await isHeld(file))) await rm(file, { force: true });
    else await sleep(LOOK_EVERY_MS);
  }
}

/** Whether the process that the lock names is there. One that is just being written names none yet. */
async function isHeld(file: string): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  const pid = Number(text);
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  // This process has one at a time: what names it is left by one before that had the same id.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
