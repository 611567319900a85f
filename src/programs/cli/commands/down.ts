import type { Command } from "commander";
import type { Example, Io } from "../command.ts";
import { addDataFlag, dataFolder } from "../local/data-folder.ts";
import { stopRunning } from "../local/stop.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Stop the server that binnacle up started; objects are kept", "binnacle down"],
];

/** Stops a local control plane. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command).action(async ({ dataDir }: { dataDir?: string }) => {
    const folder = dataFolder(dataDir, io);
    const pid = await stopRunning(folder);
    io.print(pid === undefined ? `No server is running in ${folder.path}.\n` : `Stopped (process ${pid}).\n`);
  });
}
