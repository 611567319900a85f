import { type FileHandle, open } from "node:fs/promises";
import type { Command } from "commander";
import { systemClock } from "../lib/clock.ts";
import { type Example, Failure, type Io } from "./command.ts";
import { addDataFlag, dataFolder } from "./local/data-folder.ts";
import { findRunning } from "./local/running.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["What the server in the background has said", "binnacle logs"],
  ["And what it says from now on, until it stops", "binnacle logs --follow"],
];

const CHUNK_BYTES = 256 * 1024;
const LOOK_EVERY_MS = 200;

/** Prints the log of `up --detach`. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("-f, --follow", "go on as long as it runs")
    .action(async ({ dataDir, follow }: { dataDir?: string; follow?: true }) => {
      const folder = dataFolder(dataDir, io);
      const file = await open(folder.log).catch(() => {
        throw new Failure(
          `there is no log in ${folder.path}`,
          "Only a server in the background has one: binnacle up --detach",
        );
      });
      try {
        let at = 0;
        for (;;) {
          at = await printFrom(file, at, io);
          if (!follow) return;
          if (!(await findRunning(folder))) {
            await printFrom(file, at, io);
            return;
          }
          await systemClock.sleep(LOOK_EVERY_MS);
        }
      } finally {
        await file.close();
      }
    });
}

/** Prints what is there behind a position, and resolves to the position behind it. */
async function printFrom(file: FileHandle, start: number, io: Io): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = start; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return at;
    io.print(chunk.toString("utf8", 0, bytesRead));
    at += bytesRead;
  }
}
