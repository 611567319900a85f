import { setInterval } from "node:timers";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const PARENT_CHECK_MS = 1000;

/** Resolves when this process is told to stop. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve());
  });
}

/**
 * Windows has no signals: envtest ends the launcher, which is a batch file, and knows nothing of the process behind it. So that
 * one ends when its parent is gone.
 */
export function endWithParent(
  parent: number = process.ppid,
  end: () => void = () => process.kill(process.pid, "SIGTERM"),
): void {
  const timer = setInterval(() => {
    if (isAlive(parent)) return;
    clearInterval(timer);
    end();
  }, PARENT_CHECK_MS);
  timer.unref();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
