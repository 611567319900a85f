import { open, stat } from "node:fs/promises";
import type { Clock, Timer } from "../lib/clock.ts";

/** How often files are looked at; kube-apiserver hears of changes by inotify. */
const LOOK_MS = 1000;
/** No certificate bundle and no configuration file is longer. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What to do with a file. */
export interface WatchedFileOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Gets the text whenever it has changed. What it throws is reported, and the file counts as read. */
  readonly changed: (text: string) => void | Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** The text of a file. Throws when it is longer than any configuration is. */
export async function readLimited(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES) throw new Error(`${file} is longer than ${MAX_BYTES} bytes`);
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      length += bytesRead;
      if (length > MAX_BYTES) throw new Error(`${file} is longer than ${MAX_BYTES} bytes`);
      if (bytesRead === 0) return buffer.toString("utf8", 0, length);
    }
  } finally {
    await handle.close();
  }
}

/** Looks at a file again and again until it is closed, and reads it when it is another one or has changed. */
export class WatchedFile {
  readonly #options: WatchedFileOptions;
  readonly #timer: Timer;
  #text: string;
  #seen = "";
  #isLooking = false;

  /** `text` is what the file was when it was read first. */
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
