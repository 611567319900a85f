import path from "node:path";
import type { Command } from "commander";
import type { Example, Io } from "./command.ts";
import { logOf } from "./log-flags.ts";
import { addServeFlags, configOf, type ServeFlags } from "./serve-flags.ts";
import { describeStore, serveUntilStopped } from "./serving.ts";
import { checkFiles } from "./start/check-files.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Objects live in the process, and are gone with it", "binnacle serve --store memory"],
  ["Objects live in one file", "binnacle serve --store sqlite:objects.db"],
  ["One of several servers on an etcd cluster", "binnacle serve --etcd-servers http://127.0.0.1:2379"],
  ["Beside a controller manager of its own", "binnacle serve --controllers none"],
];

/** Adds all flags of a server. */
export function configure(command: Command, io: Io): void {
  addServeFlags(command);
  command.action(async (flags: ServeFlags) => {
    await checkFiles(command, io.cwd);
    await serve(flags, io);
  });
}

async function serve(flags: ServeFlags, io: Io): Promise<void> {
  const config = await configOf(flags);
  const say = (line: string) => io.print(`${line}\n`);
  await serveUntilStopped({
    config,
    log: logOf(flags).log,
    ready(server) {
      say(`Serving ${server.url} from ${describeStore(config.store)}.`);
      if (server.insecureUrl !== undefined)
        say(`Without TLS or credentials, on this machine only: ${server.insecureUrl}`);
      const kubeconfig = path.relative(io.cwd, server.kubeconfigFile ?? "");
      say(`Connect with: kubectl --kubeconfig ${kubeconfig} get namespaces`);
    },
    stopping: (signal) => say(`Stopping (${signal}): open requests may end; a second signal ends at once.`),
  });
  say("Stopped.");
}
