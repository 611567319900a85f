import { spawn } from "node:child_process";
import { constants, type FileHandle, open, rename, stat } from "node:fs/promises";
import { Failure, type Io } from "../command.ts";
import type { DataFolder } from "./data-folder.ts";

const MAX_LOG_BYTES = 8 * 1024 * 1024;
const MAX_LAST_WORDS = 64 * 1024;
const PREFIX = "binnacle: ";

/** Starts the same command in the background, with its output in the folder's log. Resolves when it is ready. */
export async function detach({ log }: DataFolder, io: Io): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(log, `${log}.1`);
  const file = await openLog(log);
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
    if (announced === undefined) throw new Failure(await lastWords(file, start), `Full log: ${log}`);
    io.print(`${announced}Log:          ${io.program} logs --follow\n`);
    child.disconnect();
    child.unref();
  } finally {
    await file.close();
  }
}

/** Opens the log for appending. A symbolic link is not followed: the folder may be hostile, and the link name another file. */
async function openLog(log: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = constants;
  try {
    return await open(log, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP") throw error;
    throw new Failure(`${log}: is a symbolic link, expected a file`, `Delete it: rm ${log}`);
  }
}

/** The last error message in the log. */
async function lastWords(file: FileHandle, start: number): Promise<string> {
  const length = Math.min((await file.stat()).size - start, MAX_LAST_WORDS);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, start);
  const text = buffer.toString().trim();
  const at = text.lastIndexOf(PREFIX);
  return at < 0 ? "the server exited before it was ready" : text.slice(at + PREFIX.length);
}
