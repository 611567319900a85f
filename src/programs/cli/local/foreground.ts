import path from "node:path";
import { logOf } from "../../../base/log/options.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { nodesReady } from "../../../cluster/nodes/nodes-ready.ts";
import { PACKAGE_VERSION, release } from "../../../serving/endpoints/release.ts";
import { findProgram } from "../../envtest/find-program.ts";
import type { Config } from "../../server/config.ts";
import type { Server } from "../../server/server.ts";
import { Failure, hint, type Io, printFailure } from "../command.ts";
import { serveUntilStopped } from "../commands/serving.ts";
import { configOf, type ServeFlags, simulatedCluster } from "../flags/serve-flags.ts";
import { type DataFolder, type Instance, isEtcd, readInstance, writeInstance } from "./data-folder.ts";
import { portOrAny } from "./free-port.ts";
import { changeKubeconfig, mergeKubeconfig, stepBack, usualKubeconfig } from "./merge-kubeconfig.ts";
import { register, unregister } from "./registry.ts";
import { describeActivity } from "./summary.ts";

const INSTALL_KUBECTL = "https://kubernetes.io/docs/tasks/tools/";

/** What to try first. */
const FIRST_COMMANDS = {
  cluster: "create deployment web --image=nginx --replicas=3",
  server: "get namespaces",
} as const;

/** The values of the flags of `binnacle up`. */
export interface UpFlags extends ServeFlags {
  readonly dataDir?: string;
  readonly memory?: true;
  readonly detach?: true;
  readonly merge: boolean;
  readonly context: string;
  /** False: neither a scheduler nor nodes. */
  readonly cluster: boolean;
  readonly nodes?: number;
}

/** Serves from a folder until a signal arrives. Prints a summary and merges the kubeconfig. */
export async function serveFrom(folder: DataFolder, flags: UpFlags, io: Io): Promise<void> {
  const before = await readInstance(folder);
  const given = await configOf({ ...defaultsOf(flags), ...flags, certDir: folder.path });
  const config: Config = {
    ...given,
    ...(flags.etcdServers === undefined && { store: storeOf(flags, folder) }),
    ...(flags.securePort === undefined && {
      securePort: await portOrAny(before?.port ?? given.securePort, given.bindAddress),
    }),
  };
  let instance: Instance | undefined;
  if (io.isTerminal) io.print("Starting…");
  await serveUntilStopped({
    config,
    log: logOf(flags),
    async ready(server) {
      await nodesReady(server.resources, config.simulatedNodes);
      instance = instanceOf(server, config);
      await writeInstance(folder, instance);
      const merged = flags.merge ? await merge(folder, flags.context, before, io) : undefined;
      instance = { ...instance, ...(merged && { merged }) };
      await writeInstance(folder, instance);
      await register(folder, io);
      const text = `${await announcement(instance, folder, io)}\n`;
      // In the background, the log of `binnacle logs` needs only the first line.
      if (process.send) io.print(text.slice(0, text.indexOf("\n") + 1));
      else io.print(io.isTerminal ? `\r${text}` : text);
      // The process that started this one in the background waits for the message, then exits.
      process.send?.(text);
    },
    stopping: () => io.print("Stopping; waiting for open requests. Ctrl-C again to force.\n"),
  });
  if (instance) await leave(instance, folder);
  await unregister(folder, io);
  io.print(
    config.store.type === "sqlite" ? `Stopped. Objects are kept in ${shown(config.store.file, io)}.\n` : "Stopped.\n",
  );
}

const defaultsOf = ({ cluster, nodes = 1 }: UpFlags): ServeFlags =>
  cluster ? simulatedCluster(nodes) : { controllers: "*" };

const storeOf = ({ memory }: UpFlags, { objects }: DataFolder): Config["store"] =>
  memory ? { type: "memory" } : { type: "sqlite", file: objects };

function instanceOf({ url }: Server, { store, controllers, scheduler, simulatedNodes }: Config): Instance {
  return {
    pid: process.pid,
    url,
    port: Number(new URL(url).port),
    since: new Date(systemClock.now()).toISOString(),
    version: PACKAGE_VERSION,
    store: store.type === "memory" ? "memory" : store.type === "sqlite" ? store.file : store.servers.join(","),
    ...{ controllers, scheduler, simulatedNodes },
  };
}

/** A kubeconfig that cannot be merged does not prevent the start. */
async function merge(folder: DataFolder, context: string, before: Instance | undefined, io: Io) {
  try {
    const merged = await mergeKubeconfig(usualKubeconfig(io), folder.kubeconfig, context);
    // A killed process left our context current: keep the previous one that it recorded.
    const isOurs = merged.previous === context;
    return isOurs ? { ...merged, previous: before?.merged?.previous } : merged;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    printFailure(error, io);
    return undefined;
  }
}

/** Removes the process id from the record, and makes the user's previous context current again. */
async function leave({ pid: _, ...instance }: Instance, folder: DataFolder): Promise<void> {
  const { merged } = instance;
  if (merged)
    await changeKubeconfig(merged.file, (known) => stepBack(known, merged.context, merged.previous)).catch(() => {});
  // If the folder has been deleted, it is not created again.
  await writeInstance(folder, instance).catch(() => {});
}

async function announcement(instance: Instance, folder: DataFolder, io: Io): Promise<string> {
  const { url, store, merged, simulatedNodes = 0 } = instance;
  const isMissing = (await findProgram("kubectl", io.env, process.platform)) === undefined;
  const kubectl = merged ? "kubectl" : `kubectl --kubeconfig ${shown(folder.kubeconfig, io)}`;
  return [
    `Binnacle ${PACKAGE_VERSION} (Kubernetes ${release.version}) is serving ${url}`,
    `Objects:      ${describeStore(store, io)}`,
    `Kubeconfig:   ${shown(folder.kubeconfig, io)}${merged ? `, merged into ${merged.file} (current context: ${merged.context})` : ""}`,
    hint(describeActivity(instance), io),
    `Try:          ${kubectl} ${FIRST_COMMANDS[simulatedNodes > 0 ? "cluster" : "server"]}`,
    ...(isMissing ? [`              (kubectl is not installed: ${INSTALL_KUBECTL})`] : []),
    `Stop:         ${process.send ? "" : "Ctrl-C or "}${io.program} down`,
  ].join("\n");
}

function describeStore(store: string, io: Io): string {
  if (store === "memory") return "in memory, lost when the server stops";
  return isEtcd(store) ? `etcd at ${store}` : shown(store, io);
}

/** A relative path, if the file is below the working directory. */
function shown(file: string, { cwd }: Io): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") ? file : relative;
}
