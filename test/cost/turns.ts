import { openSync, readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

const LEAST_MS = 2;

/** Node flags with which a server appends the CPU time of each longer turn of its event loop to a file. */
export function noteTurnsIn(file: string): string[] {
  const module = pathToFileURL(import.meta.filename);
  const program = `import { noteTurns } from "${module}"; noteTurns(${JSON.stringify(file)})`;
  return ["--import", `data:text/javascript,${program}`];
}

/**
 * Runs in the server. Timers run once per turn, so the CPU time between two of them is that of a turn, however busy the machine is.
 * Writes one line per turn, in ms.
 */
export function noteTurns(file: string): void {
  if (!isMainThread) return;
  const output = openSync(file, "a");
  let last = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    const ms = (user + system) / 1000;
    if (ms >= LEAST_MS) writeSync(output, `${ms.toFixed(1)}\n`);
    last = process.threadCpuUsage();
  }, 1).unref();
}

/** The CPU times of turns that a server has noted so far. Without long turns there is no file yet, or an empty one. */
export function readTurns(file: string): readonly number[] {
  try {
    return readFileSync(file, "latin1").trim().split("\n").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
