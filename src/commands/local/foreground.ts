import path from "node:path";
import { findProgram } from "../../envtest/find-program.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Config } from "../../server/config.ts";
import { PACKAGE_VERSION, release } from "../../server/release.ts";
import type { Server } from "../../server/server.ts";
import { Failure, type Io } from "../command.ts";
import { logOf } from "../log-flags.ts";
import { configOf, type ServeFlags } from "../serve-flags.ts";
import { serveUntilStopped } from "../serving.ts";
import { type DataFolder, type Instance, readInstance, writeInstance } from "./data-folder.ts";
import { portOrAny } from "./free-port.ts";
import { changeKubeconfig, mergeKubeconfig, stepBack, usualKubeconfig } from "./merge-kubeconfig.ts";
import { describeActivity } from "./summary.ts";

const INSTALL_KUBECTL = "https://kubernetes.io/docs/tasks/tools/";

/** What the flags of `binnacle up` were set to. */
export interface UpFlags extends ServeFlags {
  dataDir?: string;
  memory?: true;
  detach?: true;
  merge: boolean;
  context: string;
}

/** Serves from a folder until a signal comes: says where and what, and merges the kubeconfig. */
export async function serveFrom(folder: DataFolder, flags: UpFlags, isPortGiven: boolean, io: Io): Promise<void> {
  const before = await readInstance(folder);
  const config: Config = {
    ...(await configOf({ ...flags, certDir: folder.path })),
    ...(flags.etcdServers === undefined && { store: storeOf(flags, folder) }),
    ...(!isPortGiven && { securePort: await portOrAny(before?.port ?? flags.securePort, flags.bindAddress) }),
  };
  let instance: Instance | undefined;
  if (io.isTerminal) io.print("Starting…");
  await serveUntilStopped({
    config,
    log: logOf(flags).log,
    async ready(server) {
      instance = instanceOf(server, config);
      await writeInstance(folder, instance);
      const merged = flags.merge ? await merge(folder, flags.context, before, io) : undefined;
      instance = { ...instance, ...(merged && { merged }) };
      await writeInstance(folder, instance);
      const text = `${await announcement(instance, folder, io)}\n`;
      io.print(io.isTerminal ? `\r${text}` : text);
      // Who started this process in the background waits for it, and goes.
      process.send?.(text);
    },
    stopping: () => io.print("Stopping: open requests may end; a second signal ends at once.\n"),
  });
  if (instance) await leave(instance, folder);
  io.print(
    config.store.type === "sqlite" ? `Stopped. Objects stay in ${shown(config.store.file, io)}.\n` : "Stopped.\n",
  );
}

const storeOf = ({ memory }: UpFlags, { objects }: DataFolder): Config["store"] =>
  memory ? { type: "memory" } : { type: "sqlite", file: objects };

function instanceOf({ url }: Server, { store, controllers }: Config): Instance {
  return {
    pid: process.pid,
    url,
    port: Number(new URL(url).port),
    since: new Date(systemClock.now()).toISOString(),
    version: PACKAGE_VERSION,
    store: store.type === "memory" ? "memory" : store.type === "sqlite" ? store.file : store.servers.join(","),
    controllers,
  };
}

/** A kubeconfig that cannot be merged is no reason not to start. */
async function merge(folder: DataFolder, context: string, before: Instance | undefined, io: Io) {
  try {
    const merged = await mergeKubeconfig(usualKubeconfig(io), folder.kubeconfig, context);
    // A process that was killed left ours current: what was before it still is what was before.
    const isOurs = merged.previous === context;
    return isOurs ? { ...merged, previous: before?.merged?.previous } : merged;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.complain(`binnacle: ${error.message}\n  ${error.next}\n`);
    return undefined;
  }
}

/** Says that nobody serves from the folder any more, and makes the user's own context current again. */
async function leave({ pid: _, ...instance }: Instance, folder: DataFolder): Promise<void> {
  const { merged } = instance;
  if (merged)
    await changeKubeconfig(merged.file, (known) => stepBack(known, merged.context, merged.previous)).catch(() => {});
  // Whoever deleted the folder meanwhile wants no new one.
  await writeInstance(folder, instance).catch(() => {});
}

async function announcement(instance: Instance, folder: DataFolder, io: Io): Promise<string> {
  const { url, store, merged, controllers } = instance;
  const isMissing = (await findProgram("kubectl", io.env, process.platform)) === undefined;
  const kubectl = merged ? "kubectl" : `kubectl --kubeconfig ${shown(folder.kubeconfig, io)}`;
  return [
    `Binnacle ${PACKAGE_VERSION} serves ${url}, compatible with Kubernetes ${release.version}.`,
    `Objects:      ${store === "memory" ? "in memory, gone when it stops" : shown(store, io)}`,
    `Kubeconfig:   ${shown(folder.kubeconfig, io)}${merged ? `, and context ${JSON.stringify(merged.context)} in ${merged.file}, which is current now` : ""}`,
    describeActivity(controllers),
    `Try:          ${kubectl} get namespaces`,
    ...(isMissing ? [`              kubectl is not on your PATH; ${INSTALL_KUBECTL} has it.`] : []),
    process.send ? "Stop it:      binnacle down" : "Stop it:      Ctrl-C, or binnacle down",
  ].join("\n");
}

/** Relative where that is shorter. */
function shown(file: string, { cwd }: Io): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") ? file : relative;
}
