import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { type Example, Failure, type Io } from "./command.ts";
import { addDataFlag, dataFolder, readInstance } from "./local/data-folder.ts";
import { changeKubeconfig, removeFrom } from "./local/merge-kubeconfig.ts";
import { stopRunning } from "./local/stop.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Delete all objects; keys and contexts stay good", "binnacle reset"],
  ["Delete the data folder, and the context in your kubeconfig", "binnacle reset --all"],
];

/** Deletes what a local control plane keeps. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("--all", "also keys, logs and the context in your kubeconfig")
    .action(async ({ dataDir, all }: { dataDir?: string; all?: true }) => {
      const folder = dataFolder(dataDir, io);
      const names = await readdir(folder.path).catch(() => undefined);
      if (names === undefined) return io.print(`There is no ${folder.path}.\n`);
      const instance = await readInstance(folder);
      // Nobody's photographs are deleted because a flag was mistyped.
      if (instance === undefined) {
        throw new Failure(`${folder.path} is no data folder of binnacle up`, "Name the one that is: --data-dir FOLDER");
      }
      const pid = await stopRunning(folder);
      if (pid !== undefined) io.print(`Stopped process ${pid}.\n`);
      for (const name of names.filter((one) => one.startsWith(path.basename(folder.objects)))) {
        await rm(path.join(folder.path, name), { force: true });
      }
      if (!all) return io.print(`Deleted all objects of ${folder.path}.\n`);
      const { merged } = instance;
      if (merged) {
        await changeKubeconfig(merged.file, (known) => removeFrom(known, merged.context, merged.previous));
        io.print(`Removed context ${JSON.stringify(merged.context)} from ${merged.file}.\n`);
      }
      await rm(folder.path, { recursive: true });
      io.print(`Deleted ${folder.path}.\n`);
    });
}
