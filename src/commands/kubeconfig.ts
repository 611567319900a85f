import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { type Example, Failure, type Io } from "./command.ts";
import { addDataFlag, dataFolder } from "./local/data-folder.ts";
import { mergeKubeconfig, usualKubeconfig } from "./local/merge-kubeconfig.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["For this terminal", 'export KUBECONFIG="$(binnacle kubeconfig --path)"'],
  ["Add it to your own, and make it the current context", "binnacle kubeconfig --merge"],
  ["Give it to a program", "binnacle kubeconfig > kubeconfig.yaml"],
];

interface KubeconfigFlags {
  readonly dataDir?: string;
  readonly merge?: true;
  readonly path?: true;
  readonly context: string;
}

/** Prints or merges the administrator's kubeconfig. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("--path", "print where it is instead of what it says")
    .option("--merge", "add it to the first file of KUBECONFIG, or to ~/.kube/config")
    .option("--context <name>", "name of the context there", "binnacle")
    .action(async ({ dataDir, merge, path, context }: KubeconfigFlags) => {
      const { kubeconfig, path: folder } = dataFolder(dataDir, io);
      const text = await readFile(kubeconfig, "utf8").catch(() => undefined);
      if (text === undefined) {
        throw new Failure(
          `there is no kubeconfig in ${folder}`,
          "It is made when the server starts first: binnacle up --detach",
        );
      }
      if (!merge) return io.print(path ? `${kubeconfig}\n` : text);
      const { file } = await mergeKubeconfig(usualKubeconfig(io), kubeconfig, context);
      io.print(`Context ${JSON.stringify(context)} is in ${file}, and current.\n`);
    });
}
