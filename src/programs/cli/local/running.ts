import { networkInterfaces } from "node:os";
import { isLoopbackHost } from "../../../base/net/ip-address.ts";
import type { ServerAccess } from "../../../base/net/server-access.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { Failure } from "../command.ts";
import { type DataFolder, type Instance, readInstance } from "./data-folder.ts";

/** The path of `processId` in serving/endpoints/process.ts, which commands do not load. */
export const PROCESS_PATH = "/binnacle/process";

const LIMITS = { timeoutMs: 15_000, maxBytes: 64 * 1024 };

/**
 * Finds the control plane that is running in a folder. The folder may be hostile, such as one in a cloned repository: its
 * process id counts only if a server on this machine, with a certificate of the folder's CA, reports the same id.
 */
export async function findRunning(folder: DataFolder): Promise<(Instance & { readonly pid: number }) | undefined> {
  const instance = await readInstance(folder);
  if (instance?.pid === undefined || !isAlive(instance.pid)) return undefined;
  const { pid } = instance;
  return (await reportedPid(folder)) === pid ? { ...instance, pid } : undefined;
}

/** The same, but throws a Failure if there is none. */
export async function requireRunning(folder: DataFolder): Promise<Instance & { readonly pid: number }> {
  const running = await findRunning(folder);
  if (running) return running;
  throw new Failure(`no server is running in ${folder.path}`, "Start one: binnacle up --detach");
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The process id that the server of the folder's kubeconfig reports. Undefined if it is not a server on this machine. */
async function reportedPid({ kubeconfig }: DataFolder): Promise<number | undefined> {
  // Loaded late: usually no server is running.
  const [{ JsonClient, objectIn }, { readKubeconfig }] = await Promise.all([
    import("../../../base/net/json-client.ts"),
    import("../../../data/kubeconfig/kubeconfig-read.ts"),
  ]);
  try {
    const access = await readKubeconfig(kubeconfig);
    if (!isProven(access) || !isOwnAddress(access.server.hostname)) return undefined;
    using client = new JsonClient(access, systemClock);
    const { status, body } = await client.ask({ ...LIMITS, method: "GET", path: PROCESS_PATH });
    const { pid } = status === 200 ? objectIn(body) : {};
    return typeof pid === "number" ? pid : undefined;
  } catch {
    return undefined;
  }
}

const isProven = ({ server, authority, skipsVerification }: ServerAccess): boolean =>
  server.protocol === "https:" && authority !== undefined && !skipsVerification;

function isOwnAddress(host: string): boolean {
  if (isLoopbackHost(host)) return true;
  const address = host.replace(/^\[|\]$/g, "");
  return Object.values(networkInterfaces()).some((list) => list?.some((one) => one.address === address));
}
