import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** A destination of log lines. */
export interface LogLines {
  write(line: string): void;
}

/** Size of the buffer for unread log lines. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Writes log lines to a reader that may be slow or stalled. Lines beyond the limit are dropped. When the reader
 * continues, `reportDropped` is called with their number.
 */
export class BoundedLines implements LogLines {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  #dropped = 0;

  constructor(stream: Writable, reportDropped: (count: number) => void, maxBytes: number = MAX_UNREAD_BYTES) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    // The stream is closed, so there is nowhere to report to.
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
 * Writes log lines to stderr. Pipes and sockets are written asynchronously, because a stalled reader would otherwise
 * block the server. Files and terminals are written synchronously.
 */
export function standardErrorLines(reportDropped: (count: number) => void): LogLines {
  const kind = fstatSync(2);
  if (!kind.isFIFO() && !kind.isSocket()) return { write: writeAtOnce };
  // Creates process.stderr, which fails (EEXIST) while another stream waits to write to the same descriptor.
  process.stderr.on("error", () => {});
  const stream = new Socket({ fd: kind.isFIFO() ? reopened() : 2, readable: false, writable: true });
  // Unread lines must not keep the process alive.
  stream.unref();
  return new BoundedLines(stream, reportDropped);
}

function writeAtOnce(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // For example a full disk. A failure to log must not cause further failures.
  }
}

/** Reopens the pipe, because other processes may share it and must not find it in non-blocking mode. */
function reopened(): number {
  try {
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return 2;
  }
}
