import type { Readable, Writable } from "node:stream";
import type { JsonObject } from "../../api/object.ts";

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** A client of exec or attach, by whichever protocol: what it asked for is there. */
export interface CommandSession {
  /** What the client sends; ends when the client says so, or leaves. */
  readonly stdin: Readable | undefined;
  /** Take as much as the client reads. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Hears how large the client's terminal is, from now on. Only the last size matters. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Tells the client how it ended, after everything that was written before. */
  finish(status: JsonObject): Promise<void>;
}

/** Reads a terminal's size, as Go's `remotecommand.TerminalSize` is printed. Undefined when it is none. */
export function readSize(text: string): TerminalSize | undefined {
  if (text.length > 1000) return undefined;
  try {
    // Compat: `TerminalSize` is read by encoding/json, which takes "Width" in any case; clients do send "width".
    const members = Object.entries(JSON.parse(text)).map(([name, value]) => [name.toLowerCase(), value]);
    const { width, height } = Object.fromEntries(members);
    return Number.isInteger(width) && Number.isInteger(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** Calls with the size that came last, also when it came before somebody listened. */
export class ResizeEvents {
  #last: TerminalSize | undefined;
  #listener: ((size: TerminalSize) => void) | undefined;

  tell(size: TerminalSize): void {
    this.#last = size;
    this.#listener?.(size);
  }

  listen(listener: (size: TerminalSize) => void): void {
    this.#listener = listener;
    if (this.#last) listener(this.#last);
  }
}
