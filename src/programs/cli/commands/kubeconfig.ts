import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { type Example, Failure, type Io } from "../command.ts";
import { addDataFlag, dataFolder } from "../local/data-folder.ts";
import { mergeKubeconfig, usualKubeconfig } from "../local/merge-kubeconfig.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Use it in this terminal", 'export KUBECONFIG="$(binnacle kubeconfig --path)"'],
  ["Merge it into your kubeconfig and make it the current context", "binnacle kubeconfig --merge"],
  ["Write it to a file", "binnacle kubeconfig > kubeconfig.yaml"],
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
    .option("--path", "print the path instead of the content")
    .option("--merge", "merge it into the first file of $KUBECONFIG, or ~/.kube/config")
    .option("--context <name>", "name of the merged context", "binnacle")
    .action(async ({ dataDir, merge, path, context }: KubeconfigFlags) => {
      const { kubeconfig, path: folder } = dataFolder(dataDir, io);
      const text = await readFile(kubeconfig, "utf8").catch(() => undefined);
      if (text === undefined) {
        throw new Failure(
          `no kubeconfig found in ${folder}`,
          "The first start of the server creates it: binnacle up --detach",
        );
      }
      if (!merge) return io.print(path ? `${kubeconfig}\n` : text);
      const { file } = await mergeKubeconfig(usualKubeconfig(io), kubeconfig, context);
      io.print(`Merged context ${JSON.stringify(context)} into ${file}; it is the current context.\n`);
    });
}
