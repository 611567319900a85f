import { systemClock } from "../../base/util/clock.ts";
import { listenAddress, serveHealth } from "./health-only-etcd.ts";
import { etcdHelp } from "./help.ts";
import { endWithSuite, untilStopped } from "./lifetime.ts";
import { runInHost } from "./shared/launcher.ts";

// A separate program for launchers with few imports, since suites wait for it.

async function runEtcd(args: readonly string[]): Promise<number> {
  if (args.some((arg) => /^--?h(elp)?$/.test(arg))) {
    process.stdout.write(etcdHelp());
    return 0;
  }
  const stopped = untilStopped();
  const server = await serveHealth(listenAddress(args));
  await stopped;
  server.close();
  return 0;
}

/** The first two arguments are for this program: the socket of the shared process, and the command that starts it. */
function runShared([address = "", cli = "", ...args]: readonly string[]): Promise<number> {
  return runInHost({
    address,
    request: {
      args,
      cwd: process.cwd(),
      controllers: process.env.BINNACLE_CONTROLLERS,
      nodes: process.env.BINNACLE_NODES,
    },
    startHost: () => void import("./shared/start-host.ts").then(({ startHost }) => startHost(cli, address)),
    voice: {
      out: (text) => void process.stdout.write(text),
      err: (text) => void process.stderr.write(text),
    },
    stopped: untilStopped(),
    clock: systemClock,
  });
}

const [name, ...args] = process.argv.slice(2);
endWithSuite();
try {
  process.exitCode = await (name === "etcd" ? runEtcd(args) : runShared(args));
} catch (error) {
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
