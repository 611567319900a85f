import { readdirSync, readFileSync } from "node:fs";

/** Processor time of all threads of a process so far; 0 where the system does not tell. */
export function processorMs(pid: number): number {
  let ms = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) ms += threadMs(pid, Number(thread));
  } catch {
    // A system without such figures.
  }
  return ms;
}

/** Processor time so far of the thread with the event loop, which has the number of its process. */
export const loopMs = (pid: number): number => threadMs(pid, pid);

function threadMs(pid: number, thread: number): number {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1"), 10) / 1e6;
  } catch {
    // It has just ended.
    return 0;
  }
}
