import { stat } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { Example, Io } from "./command.ts";
import { addDataFlag, dataFolder } from "./local/data-folder.ts";
import { findRunning } from "./local/running.ts";
import { activityOf, describeActivity } from "./local/summary.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Whether one runs, where, and what in it; ends with 3 if none does", "binnacle status"],
  ["For programs", "binnacle status --output json"],
];

/** As `systemctl status` has it for what does not run. */
const NOT_RUNNING = 3;

/** Tells of a local control plane. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .addOption(new Option("-o, --output <form>", "in which form").choices(["text", "json"]).default("text"))
    .action(async ({ dataDir, output }: { dataDir?: string; output: string }) => {
      const folder = dataFolder(dataDir, io);
      const running = await findRunning(folder);
      if (!running) io.exitCode = NOT_RUNNING;
      const bytes = running && running.store !== "memory" ? await sizeOf(running.store) : undefined;
      if (output === "json") {
        const facts = running
          ? { running: true, ...running, bytes, kubeconfig: folder.kubeconfig, ...activityOf(running.controllers) }
          : { running: false, dataDir: folder.path };
        io.print(`${JSON.stringify(facts, null, 2)}\n`);
      } else if (!running) {
        io.print(`Nothing runs from ${folder.path}.\n  Start it: binnacle up --detach\n`);
      } else {
        const { url, pid, since, store } = running;
        io.print(`Serves ${url} (process ${pid}, since ${since}).\n`);
        io.print(
          `Objects:      ${store === "memory" ? "in memory, gone when it stops" : `${store}, ${bytes} bytes`}\n`,
        );
        io.print(`Kubeconfig:   ${folder.kubeconfig}\n${describeActivity(running.controllers)}\n`);
      }
    });
}

/** With what has not been moved into the main file yet. */
async function sizeOf(file: string): Promise<number> {
  const files = [file, `${file}-wal`].map((one) => stat(one).catch(() => undefined));
  return (await Promise.all(files)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
}
