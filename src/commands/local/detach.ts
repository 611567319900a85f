import { spawn } from "node:child_process";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { Failure, type Io } from "../command.ts";
import type { DataFolder } from "./data-folder.ts";

const MAX_LOG_BYTES = 8 * 1024 * 1024;
const MAX_LAST_WORDS = 64 * 1024;
const PREFIX = "binnacle: ";

/** Starts the same command once more, in the background, with its output in the folder's log; resolves when it is ready. */
export async function detach({ log }: DataFolder, io: Io): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(log, `${log}.1`);
  const file = await open(log, "a+", 0o600);
  try {
    const { size: start } = await file.stat();
    const args = process.argv.slice(2).filter((arg) => arg !== "--detach" && arg !== "-d");
    const program = [...process.execArgv, process.argv[1] ?? "", ...args, "--foreground-of-detached"];
    const child = spawn(process.execPath, program, {
      detached: true,
      stdio: ["ignore", file.fd, file.fd, "ipc"],
      cwd: io.cwd,
      windowsHide: true,
    });
    const announced = await new Promise<string | undefined>((resolve, reject) => {
      child.once("message", (text) => resolve(String(text)));
      child.once("exit", () => resolve(undefined));
      child.once("error", reject);
    });
    if (announced === undefined) throw new Failure(await lastWords(file, start), `All of it: ${log}`);
    io.print(`${announced}Its log:      binnacle logs --follow\n`);
    child.disconnect();
    child.unref();
  } finally {
    await file.close();
  }
}

/** What the process said of why it ended. */
async function lastWords(file: FileHandle, start: number): Promise<string> {
  const length = Math.min((await file.stat()).size - start, MAX_LAST_WORDS);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, start);
  const text = buffer.toString().trim();
  const at = text.lastIndexOf(PREFIX);
  return at < 0 ? "the server ended before it was ready" : text.slice(at + PREFIX.length);
}
