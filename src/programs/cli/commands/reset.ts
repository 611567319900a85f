import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import type { JsonObject } from "../../../base/api/object.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addDataFlag, type DataFolder, dataFolder, type MergedContext, readInstance } from "../local/data-folder.ts";
import { changeKubeconfig, isMerged, removeFrom, usualKubeconfig } from "../local/merge-kubeconfig.ts";
import { stopRunning } from "../local/stop.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Delete all objects; certificates and kubeconfigs remain valid", "binnacle reset"],
  ["Delete the data folder and the context in your kubeconfig", "binnacle reset --all"],
];

/** Deletes the data of a local control plane. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("--all", "delete the whole data folder, and the context in your kubeconfig")
    .action(async ({ dataDir, all }: { dataDir?: string; all?: true }) => {
      const folder = dataFolder(dataDir, io);
      const names = await readdir(folder.path).catch(() => undefined);
      if (names === undefined) return io.print(`Nothing to delete: ${folder.path} does not exist.\n`);
      const instance = await readInstance(folder);
      // Protects other folders from a mistyped flag.
      if (instance === undefined) {
        throw new Failure(
          `${folder.path} is not a data folder of binnacle up; nothing was deleted`,
          "Set the data folder: --data-dir FOLDER",
        );
      }
      const pid = await stopRunning(folder);
      if (pid !== undefined) io.print(`Stopped (process ${pid}).\n`);
      for (const name of names.filter((one) => one.startsWith(path.basename(folder.objects)))) {
        await rm(path.join(folder.path, name), { force: true });
      }
      if (!all) return io.print(`Deleted all objects in ${folder.path}.\n`);
      const { merged } = instance;
      if (merged) io.print(await forget(merged, folder, io));
      await rm(folder.path, { recursive: true });
      io.print(`Deleted ${folder.path}.\n`);
    });
}

/**
 * Removes the context from the user's kubeconfig, if its credentials are those of the folder. The folder may be hostile, so
 * no other file is changed. Returns what to print.
 */
async function forget(merged: MergedContext, folder: DataFolder, io: Io): Promise<string> {
  const { context, previous } = merged;
  const file = usualKubeconfig(io);
  let isRemoved = false;
  if (merged.file === file) {
    const isOurs = await isMerged(folder.kubeconfig, context);
    const remove = (known: JsonObject): JsonObject => {
      isRemoved = isOurs(known);
      return isRemoved ? removeFrom(known, context, previous) : known;
    };
    await changeKubeconfig(file, remove);
  }
  if (isRemoved) return `Removed context ${JSON.stringify(context)} from ${file}.\n`;
  return `Context ${JSON.stringify(context)} was not removed from ${merged.file}: it is another file, or has other credentials.\n`;
}
