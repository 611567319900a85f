import type { Readable, Writable } from "node:stream";
import type { KubeObject } from "../../../base/api/object.ts";
import type { TerminalSize } from "../remote-command/session.ts";

/** An exec or attach request. */
export interface CommandRequest {
  readonly pod: KubeObject;
  readonly container: string;
  /** The program and its arguments. Empty for attach. */
  readonly command: readonly string[];
  /** Whether the client requested a terminal. */
  readonly tty: boolean;
  /** Undefined if the client did not request stdin. Ends when the client closes it or disconnects. */
  readonly stdin: Readable | undefined;
  /**
   * Undefined if the client did not request it. If `write` returns false, wait for "drain"; `pipeline` does. The command
   * fails if it keeps writing while 4 MiB are unread.
   */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Registers a listener for the size of the client's terminal. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client disconnects or the server shuts down. */
  readonly signal: AbortSignal;
}
