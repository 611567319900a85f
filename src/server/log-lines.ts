import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** What takes lines of a log one by one. */
export interface LogLines {
  write(line: string): void;
}

/** What is kept of a log that nobody reads. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * The lines of a log on their way to a reader that may be slow or have stopped. Lines beyond the limit are dropped; when the
 * reader goes on, `reportDropped` hears how many.
 */
export class BoundedLines implements LogLines {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  #dropped = 0;

  constructor(stream: Writable, reportDropped: (count: number) => void, maxBytes: number = MAX_UNREAD_BYTES) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    // Nobody is left who could be told that nobody is left.
    stream.on("error", () => {});
    stream.on("drain", () => {
      const count = this.#dropped;
      this.#dropped = 0;
      if (count > 0) reportDropped(count);
    });
  }

  write(line: string): void {
    if (this.#stream.destroyed) return;
    if (this.#stream.writableLength + line.length > this.#maxBytes) this.#dropped++;
    else this.#stream.write(line);
  }
}

/**
 * Lines to standard error. A pipe or socket is written to without waiting, as a reader that has stopped would otherwise
 * stop the whole server; a file or a terminal is written to at once.
 */
export function standardErrorLines(reportDropped: (count: number) => void): LogLines {
  const kind = fstatSync(2);
  if (!kind.isFIFO() && !kind.isSocket()) return { write: writeAtOnce };
  // Made at its first use, which fails (EEXIST) while another stream waits to write to the same descriptor.
  process.stderr.on("error", () => {});
  const stream = new Socket({ fd: kind.isFIFO() ? reopened() : 2, readable: false, writable: true });
  // Lines that nobody reads must not keep the process alive.
  stream.unref();
  return new BoundedLines(stream, reportDropped);
}

function writeAtOnce(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // A full disk, for one. What is being told of must not fail because it cannot be told.
  }
}

/** Other processes may have the same pipe, and must not find it non-blocking; opened again, it is a pipe of our own. */
function reopened(): number {
  try {
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return 2;
  }
}
