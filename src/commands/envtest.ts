import { realpathSync } from "node:fs";
import { Command } from "commander";
import { readArguments } from "../envtest/apiserver-arguments.ts";
import { writeAssets } from "../envtest/assets.ts";
import { isHealthOnly, listenAddress, serveHealth } from "../envtest/health-only-etcd.ts";
import { apiserverHelp, etcdHelp } from "../envtest/help.ts";
import { endWithParent, untilStopped } from "../envtest/lifetime.ts";
import { type ServeArguments, serveArguments } from "../envtest/serve-arguments.ts";
import type { Config } from "../server/config.ts";
import { release } from "../server/release.ts";
import type { Example, Io } from "./command.ts";
import { addServeFlags, configOf } from "./serve-flags.ts";
import { serveUntilStopped } from "./serving.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Run the tests of a Go project that uses envtest", "KUBEBUILDER_ASSETS=$(npx binnacle envtest) go test ./..."],
];

// What the package's own first line gives Node.
const NODE_OPTIONS = ["--max-semi-space-size=8"];

/** Prints the folder of launchers, and is the programs that these start. */
export function configure(command: Command, io: Io): void {
  command.action(() => printAssets(io));
  addLauncher(command, "kube-apiserver", (args) => runApiserver(args, io));
  addLauncher(command, "etcd", (args) => runEtcd(args, io));
}

/** A program that reads its command line by itself. */
function addLauncher(envtest: Command, name: string, run: (args: readonly string[]) => Promise<void>): void {
  envtest
    .command(name, { hidden: true })
    .argument("[args...]")
    .helpOption(false)
    .allowUnknownOption()
    .action((_args: string[], _flags: unknown, { args }: Command) => {
      if (process.platform === "win32") endWithParent();
      return run(args);
    });
}

async function printAssets({ print, env }: Io): Promise<void> {
  const command = [process.execPath, ...NODE_OPTIONS, realpathSync(process.argv[1] ?? "")];
  print(`${await writeAssets({ command, env, platform: process.platform })}\n`);
}

async function runEtcd(args: readonly string[], { print }: Io): Promise<void> {
  if (args.some((arg) => /^--?h(elp)?$/.test(arg))) return print(etcdHelp());
  const stopped = untilStopped();
  const server = await serveHealth(listenAddress(args));
  await stopped;
  server.close();
  server.closeAllConnections();
}

async function runApiserver(args: readonly string[], io: Io): Promise<void> {
  const config = await apiserverConfig(args, io);
  if (config === undefined) return;
  await serveUntilStopped({ config, ready: (server) => io.print(`Serving ${server.url}.\n`) });
}

/** The configuration that kube-apiserver's command line describes. Undefined: there is nothing to serve. */
async function apiserverConfig(args: readonly string[], io: Io): Promise<Config | undefined> {
  try {
    const { flags, wantsHelp, version } = readArguments(args);
    if (wantsHelp) return void io.print(apiserverHelp());
    if (version !== undefined && version !== "false") return void io.print(`Kubernetes ${release.info.gitVersion}\n`);
    const serve = new Command("kube-apiserver").exitOverride().configureOutput({ outputError: () => {} });
    addServeFlags(serve);
    const known = new Set(serve.options.map(({ long = "" }) => long.slice(2)));
    const { args: translated, ignored } = await translate(flags, known, io.env.BINNACLE_CONTROLLERS);
    if (ignored.length > 0) io.complain(`kube-apiserver: Binnacle has no use for ${ignored.join(", ")}: ignored\n`);
    return await configOf(serve.parse(translated, { from: "user" }).opts());
  } catch (error) {
    // Compat: kube-apiserver tells what is wrong with its command line after `Error: `, and ends with 1.
    io.complain(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    io.exitCode = 1;
    return undefined;
  }
}

async function translate(
  flags: readonly (readonly [string, string])[],
  known: ReadonlySet<string>,
  controllers: string | undefined,
): Promise<ServeArguments> {
  const first = flags.find(([name]) => name === "etcd-servers")?.[1].split(",")[0];
  const hasNoStore = first !== undefined && (await isHealthOnly(first));
  return serveArguments(flags, { known, hasNoStore, controllers });
}
