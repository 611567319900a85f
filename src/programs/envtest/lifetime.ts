import { readFileSync } from "node:fs";
import { setInterval } from "node:timers";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const PARENT_CHECK_MS = 1000;

/** Resolves when this process gets a stop signal. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve());
  });
}

/**
 * envtest makes each program the leader of a process group, so neither Ctrl-C nor a SIGKILL of the suite reaches it,
 * and many suites never stop theirs. Therefore a program started like that ends when its parent is gone. So does one on
 * Windows, which has no signals: there envtest ends the launcher, a batch file, and does not know the process behind
 * it.
 */
export function endWithSuite(): void {
  if (process.platform === "win32" || leadsGroup(readStat())) endWithParent();
}

/** Whether the process of this `/proc/PID/stat` leads a process group but not a session, as a daemon would. */
export function leadsGroup(stat: string): boolean {
  const pid = stat.slice(0, stat.indexOf(" "));
  // The name in parentheses may contain spaces: state, parent, group and session follow the last parenthesis.
  const [, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return group === pid && session !== pid;
}

/** Empty if the system has no such file. */
function readStat(): string {
  try {
    return readFileSync("/proc/self/stat", "utf8");
  } catch {
    return "";
  }
}

function endWithParent(): void {
  const parent = process.ppid;
  const isGone = process.platform === "win32" ? () => !isAlive(parent) : () => process.ppid !== parent;
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
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
