import { Command } from "commander";
import { systemClock } from "../../../base/util/clock.ts";
import { release } from "../../../serving/endpoints/release.ts";
import { readArguments } from "../../envtest/apiserver-arguments.ts";
import { isHealthOnly } from "../../envtest/health-only-etcd.ts";
import { apiserverHelp } from "../../envtest/help.ts";
import { endWithSuite } from "../../envtest/lifetime.ts";
import { serveArguments } from "../../envtest/serve-arguments.ts";
import { type Plane, type PlaneVoice, runHost } from "../../envtest/shared/host.ts";
import type { PlaneRequest } from "../../envtest/shared/messages.ts";
import type { Config } from "../../server/config.ts";
import type { Io } from "../command.ts";
import { flagsOf } from "../flags/declared-flags.ts";
import { addServeFlags, configOf } from "../flags/serve-flags.ts";
import { serveUntilStopped } from "./serving.ts";

/** How long the shared process waits for another suite. Compiling one in Go may take minutes. */
const IDLE_MS = 5 * 60_000;

/** Runs as kube-apiserver until a signal arrives. */
export async function runApiserver(args: readonly string[], io: Io): Promise<void> {
  endWithSuite();
  const config = await apiserverConfig(args, io);
  if (config === undefined) return;
  await serveUntilStopped({ config, ready: (server) => io.print(`Serving ${server.url}.\n`) });
}

/** Runs as the kube-apiserver of all suites whose launchers connect to this address. */
export async function runPlaneHost(address: string): Promise<void> {
  // Loaded before the first request.
  const [{ startServer }, { jsonLog }, { systemRandom }] = await Promise.all([
    import("../../server/server.ts"),
    import("../../../base/log/system-environment.ts"),
    import("../../../base/util/random.ts"),
  ]);
  const start = async ({ args, cwd, controllers, nodes }: PlaneRequest, voice: PlaneVoice): Promise<Plane | number> => {
    const io: Io = {
      print: voice.out,
      complain: voice.err,
      isTerminal: false,
      env: { BINNACLE_CONTROLLERS: controllers, BINNACLE_NODES: nodes },
      cwd,
      program: "kube-apiserver",
      exitCode: 0,
    };
    const config = await apiserverConfig(args, io);
    if (config === undefined) return io.exitCode;
    const log = jsonLog({ write: voice.err });
    const server = await startServer(config, { clock: systemClock, random: systemRandom, log });
    io.print(`Serving ${server.url}.\n`);
    return server;
  };
  await runHost({ address, start, clock: systemClock, idleMs: IDLE_MS });
}

/** Converts kube-apiserver's command line. Returns undefined if there is nothing to serve (help, version, error). */
async function apiserverConfig(args: readonly string[], io: Io): Promise<Config | undefined> {
  try {
    const { flags, wantsHelp, version } = readArguments(args);
    if (wantsHelp) return void io.print(apiserverHelp());
    if (version !== undefined && version !== "false") return void io.print(`Kubernetes ${release.info.gitVersion}\n`);
    const serve = new Command("kube-apiserver").exitOverride().configureOutput({ outputError: () => {} });
    addServeFlags(serve);
    const first = flags.find(([name]) => name === "etcd-servers")?.[1].split(",")[0];
    const { args: translated, ignored } = serveArguments(flags, {
      known: new Set(serve.options.map(({ long = "" }) => long.slice(2))),
      hasNoStore: first !== undefined && (await isHealthOnly(first)),
      controllers: io.env.BINNACLE_CONTROLLERS,
      nodes: io.env.BINNACLE_NODES,
      cwd: io.cwd,
    });
    if (ignored.length > 0)
      io.complain(`kube-apiserver: warning: ignored flags without effect in Binnacle: ${ignored.join(", ")}\n`);
    return await configOf(flagsOf(serve.parse(translated, { from: "user" })));
  } catch (error) {
    // Compat: kube-apiserver prints `Error: ` and the problem, and exits with 1.
    io.complain(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    io.exitCode = 1;
    return undefined;
  }
}
