import { systemClock } from "../../../base/util/clock.ts";
import { Failure } from "../command.ts";
import { type DataFolder, readInstance } from "./data-folder.ts";
import { findRunning, isAlive } from "./running.ts";

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 20;

/** Stops the control plane of a folder. Resolves to its process id after it exited, or to undefined if none was running. */
export async function stopRunning(folder: DataFolder): Promise<number | undefined> {
  const running = await findRunning(folder);
  if (!running) return undefined;
  const { pid } = running;
  process.kill(pid, "SIGTERM");
  const since = systemClock.monotonic();
  while (isAlive(pid) && !(await hasLeft(folder, pid))) {
    if (systemClock.monotonic() - since > PATIENCE_MS) {
      throw new Failure(`process ${pid} did not exit within ${PATIENCE_MS / 1000} s`, `Force it: kill -9 ${pid}`);
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  return pid;
}

/** Whether the server has removed its process id from the record. In containers without an init process, it may remain as a zombie. */
async function hasLeft(folder: DataFolder, pid: number): Promise<boolean> {
  return (await readInstance(folder))?.pid !== pid;
}
