import { systemClock } from "../../lib/clock.ts";
import { Failure } from "../command.ts";
import { type DataFolder, readInstance } from "./data-folder.ts";
import { findRunning, isAlive } from "./running.ts";

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 20;

/** Asks the control plane of a folder to stop, and resolves to its process when that is gone; undefined if none runs. */
export async function stopRunning(folder: DataFolder): Promise<number | undefined> {
  const running = await findRunning(folder);
  if (!running) return undefined;
  const { pid } = running;
  process.kill(pid, "SIGTERM");
  const since = systemClock.monotonic();
  while (isAlive(pid) && !(await hasLeft(folder, pid))) {
    if (systemClock.monotonic() - since > PATIENCE_MS) {
      throw new Failure(
        `process ${pid} has not ended within ${PATIENCE_MS / 1000} s`,
        `End it at once: kill -9 ${pid}`,
      );
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  return pid;
}

/** Whether the server has closed everything and said so. Its process may remain as a zombie where nobody reaps it, as in many containers. */
async function hasLeft(folder: DataFolder, pid: number): Promise<boolean> {
  return (await readInstance(folder))?.pid !== pid;
}
