import type { Readable, Writable } from "node:stream";
import type { JsonObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";

/** Terminal size in characters. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** An exec or attach session over any protocol. Only the requested streams are defined. */
export interface CommandSession {
  /** Input from the client. Ends when the client closes it or disconnects. */
  readonly stdin: Readable | undefined;
  /** Output to the client, subject to backpressure. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Registers a listener for the terminal size. It is called with the last known size and all later ones. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Sends the final status to the client, after all pending output. */
  finish(status: JsonObject): Promise<void>;
}

/** Parses a terminal size in the JSON format of Go's `remotecommand.TerminalSize`. Undefined if it is invalid. */
export function readSize(text: string): TerminalSize | undefined {
  if (text.length > 1000) return undefined;
  try {
    // Compat: encoding/json matches "Width" case-insensitively, and clients do send "width".
    const members = Object.entries(parseJsonText(text)).map(([name, value]) => [name.toLowerCase(), value]);
    const { width, height } = Object.fromEntries(members);
    return Number.isInteger(width) && Number.isInteger(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** Calls the listener with each size, and with the last one that arrived before it was registered. */
export class ResizeEvents {
  #last: TerminalSize | undefined;
  #listener: ((size: TerminalSize) => void) | undefined;

  emit(size: TerminalSize): void {
    this.#last = size;
    this.#listener?.(size);
  }

  listen(listener: (size: TerminalSize) => void): void {
    this.#listener = listener;
    if (this.#last) listener(this.#last);
  }
}
