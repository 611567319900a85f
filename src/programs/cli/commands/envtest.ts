import { realpathSync } from "node:fs";
import { type Command, Option } from "commander";
import { sharedAddress, writeAssets } from "../../envtest/assets.ts";
import { connectTo } from "../../envtest/shared/connection.ts";
import { startHost } from "../../envtest/shared/start-host.ts";
import type { Example, Io } from "../command.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Run Go tests that use envtest", "KUBEBUILDER_ASSETS=$(npx binnacle envtest) go test ./..."],
  ["Use one process for all packages", "KUBEBUILDER_ASSETS=$(npx binnacle envtest --shared) go test ./..."],
];

/** Prints the folder of launchers, and implements the programs that they start, except those of `programs/envtest/light.ts`. */
export function configure(command: Command, io: Io): void {
  command
    .addOption(
      new Option(
        "--shared",
        "serve all test suites of this user from one process, each with its own control plane; it exits when idle",
      ),
    )
    .action(({ shared }: { shared?: true }) => printAssets(io, shared ?? false));
  addProgram(command, "kube-apiserver", async (args) => {
    const { runApiserver } = await import("./envtest-apiserver.ts");
    await runApiserver(args, io);
  });
  addProgram(command, "host", async ([address = ""]) => {
    const { runPlaneHost } = await import("./envtest-apiserver.ts");
    await runPlaneHost(address);
  });
}

/** Adds a hidden program that parses its own command line. */
function addProgram(envtest: Command, name: string, run: (args: readonly string[]) => Promise<void>): void {
  envtest
    .command(name, { hidden: true })
    .argument("[args...]")
    .helpOption(false)
    .allowUnknownOption()
    .action((_args: string[], _flags: unknown, { args }: Command) => run(args));
}

async function printAssets({ print, env }: Io, isShared: boolean): Promise<void> {
  const cli = realpathSync(process.argv[1] ?? "");
  const folder = await writeAssets({ node: process.execPath, cli, isShared, env, platform: process.platform });
  if (isShared) {
    const address = sharedAddress(folder, process.platform);
    const running = await connectTo(address);
    running?.destroy();
    // Started early, so that the first suite does not wait.
    if (!running) startHost(cli, address);
  }
  print(`${folder}\n`);
}
