import path from "node:path";
import type { Command } from "commander";
import { logOf } from "../../../base/log/options.ts";
import type { Example, Io } from "../command.ts";
import { flagsOf } from "../flags/declared-flags.ts";
import { addServeFlags, configOf, type ServeFlags } from "../flags/serve-flags.ts";
import { checkFiles } from "../start/check-files.ts";
import { describeStore, serveUntilStopped } from "./serving.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Keep objects in memory; they are lost on exit", "binnacle serve --store memory"],
  ["Store objects in a SQLite file", "binnacle serve --store sqlite:objects.db"],
  ["Store objects in etcd; several servers may share it", "binnacle serve --etcd-servers http://127.0.0.1:2379"],
  ["Run no controllers, for use with kube-controller-manager", "binnacle serve --controllers none"],
];

/** Adds all flags of a server. */
export function configure(command: Command, io: Io): void {
  addServeFlags(command);
  command.action(async () => {
    await checkFiles(command, io.cwd);
    await serve(flagsOf(command), io);
  });
}

async function serve(flags: ServeFlags, io: Io): Promise<void> {
  const config = await configOf(flags);
  const say = (line: string) => io.print(`${line}\n`);
  await serveUntilStopped({
    config,
    log: logOf(flags),
    ready(server) {
      say(`Serving ${server.url}; objects are stored in ${describeStore(config.store)}.`);
      if (server.insecureUrl !== undefined)
        say(`Insecure port (no TLS, every request is cluster-admin): ${server.insecureUrl}`);
      const kubeconfig = path.relative(io.cwd, server.kubeconfigFile ?? "");
      say(`Connect: kubectl --kubeconfig ${kubeconfig} get namespaces`);
    },
    stopping: () => say("Stopping; waiting for open requests. Ctrl-C again to force."),
  });
  say("Stopped.");
}
