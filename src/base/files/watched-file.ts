import { open, stat } from "node:fs/promises";
import type { Clock, Timer } from "../util/clock.ts";

/** Poll interval. Differs: kube-apiserver uses inotify. */
const LOOK_MS = 1000;
/** No certificate bundle or configuration file is larger. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Options of a watched file. */
export interface WatchedFileOptions {
  readonly file: string;
  readonly clock: Clock;
  /**
   * Called with the new text after each change. Errors it throws are passed to `failed`, and the text is not passed
   * again.
   */
  readonly changed: (text: string) => void | Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Reads a file. Throws if it is larger than 4 MiB. */
export async function readLimited(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`);
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      length += bytesRead;
      if (length > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`);
      if (bytesRead === 0) return buffer.toString("utf8", 0, length);
    }
  } finally {
    await handle.close();
  }
}

/** Polls a file until closed, and reads it when it was replaced or changed. */
export class WatchedFile {
  readonly #options: WatchedFileOptions;
  readonly #timer: Timer;
  #text: string;
  #seen = "";
  #isLooking = false;

  /** `text` is the content of the file when it was first read. */
  constructor(options: WatchedFileOptions, text: string) {
    this.#options = options;
    this.#text = text;
    this.#timer = options.clock.setInterval(LOOK_MS, () => void this.#look()).unref();
  }

  close(): void {
    this.#timer.close();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { file, changed, failed } = this.#options;
    try {
      const { mtimeMs, ctimeMs, size, ino } = await stat(file);
      const seen = [mtimeMs, ctimeMs, size, ino].join(" ");
      if (seen === this.#seen) return;
      const text = await readLimited(file);
      this.#seen = seen;
      if (text === this.#text) return;
      this.#text = text;
      await changed(text);
    } catch (error) {
      failed(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
