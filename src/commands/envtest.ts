import { realpathSync } from "node:fs";
import { type Command, Option } from "commander";
import { sharedAddress, writeAssets } from "../envtest/assets.ts";
import { connectTo } from "../envtest/shared/connection.ts";
import { startHost } from "../envtest/shared/start-host.ts";
import type { Example, Io } from "./command.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Run the tests of a Go project that uses envtest", "KUBEBUILDER_ASSETS=$(npx binnacle envtest) go test ./..."],
  ["All packages in one process", "KUBEBUILDER_ASSETS=$(npx binnacle envtest --shared) go test ./..."],
];

/** Prints the folder of launchers, and is the programs that these start, apart from those of `envtest/light.ts`. */
export function configure(command: Command, io: Io): void {
  command
    .addOption(new Option("--shared", "one process for all suites of this machine; it ends by itself"))
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

/** A program that reads its command line by itself. */
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
    // So that the first suite finds it ready.
    if (!running) startHost(cli, address);
  }
  print(`${folder}\n`);
}
