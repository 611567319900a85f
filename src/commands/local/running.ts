import { systemClock } from "../../lib/clock.ts";
import { Failure } from "../command.ts";
import { type DataFolder, type Instance, readInstance } from "./data-folder.ts";

const LIMITS = { timeoutMs: 15_000, maxBytes: 64 * 1024 };

/**
 * The control plane that serves from a folder now. Its process is there, and the server at its address has a certificate of the
 * folder's own authority: neither a process that has the number of one that is gone, nor another server at its port is taken for it.
 */
export async function findRunning(folder: DataFolder): Promise<(Instance & { readonly pid: number }) | undefined> {
  const instance = await readInstance(folder);
  if (instance?.pid === undefined || !isAlive(instance.pid)) return undefined;
  const { pid } = instance;
  return (await answers(folder)) ? { ...instance, pid } : undefined;
}

/** The same; a Failure that says how to start one if there is none. */
export async function requireRunning(folder: DataFolder): Promise<Instance & { readonly pid: number }> {
  const running = await findRunning(folder);
  if (running) return running;
  throw new Failure(`no control plane runs from ${folder.path}`, "Start one: binnacle up --detach");
}

/** Whether there is a process of that number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function answers({ kubeconfig }: DataFolder): Promise<boolean> {
  // Mostly nobody runs, and nobody is to be asked.
  const [{ JsonClient }, { readKubeconfig }] = await Promise.all([
    import("../../client/json-client.ts"),
    import("../../client/kubeconfig-read.ts"),
  ]);
  try {
    using client = new JsonClient(await readKubeconfig(kubeconfig), systemClock);
    const { status } = await client.ask({ ...LIMITS, method: "GET", path: "/livez" });
    return status === 200;
  } catch {
    return false;
  }
}
