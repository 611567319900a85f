import { readdirSync, readFileSync } from "node:fs";

/** CPU time of all threads of a process so far; 0 if the system does not report it. */
export function processorMs(pid: number): number {
  let ms = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) ms += threadMs(pid, Number(thread));
  } catch {
    // The system does not report it.
  }
  return ms;
}

/** CPU time so far of the event loop thread, whose id is that of the process. */
export const loopMs = (pid: number): number => threadMs(pid, pid);

function threadMs(pid: number, thread: number): number {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1"), 10) / 1e6;
  } catch {
    // The thread has just ended.
    return 0;
  }
}
