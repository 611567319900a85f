import type { Duplex, Readable, Writable } from "node:stream";
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

/** A log request. */
export interface LogRequest {
  readonly pod: KubeObject;
  readonly container: string;
  /** Keep streaming after the end is reached. */
  readonly follow: boolean;
  /** Log of the container instance before the last restart. */
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Only this many lines from the end. */
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** RFC 3339. */
  readonly sinceTime: string | undefined;
  /** At most this many bytes are sent, regardless of what the handler returns. */
  readonly limitBytes: number | undefined;
  readonly signal: AbortSignal;
}

/** Functions that replace the kubelet of a pod. Requests without a handler are rejected. */
export interface PodHandlers {
  /** Runs a command. Returns the exit code; undefined means 0. Errors are reported to the client. */
  readonly exec?: (request: CommandRequest) => Promise<number | undefined>;
  readonly attach?: (request: CommandRequest) => Promise<number | undefined>;
  /** Returns the lines of a log. The handler itself applies `tailLines`, times and `follow`. */
  readonly log?: (request: LogRequest) => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  /**
   * Serves a port-forward connection. The connection is closed when the promise settles. Writes are limited like those to
   * `stdout`.
   */
  readonly port?: (port: number, connection: Duplex, signal: AbortSignal) => Promise<void>;
}

/** A local server behind a service. */
export interface LocalService {
  readonly port: number;
}

/** Functions that replace nodes, for control planes without any. They are called for each request. */
export interface Handlers {
  /** Returns the handlers of a pod. Undefined: requests go to the pod's node. */
  readonly pod?: (pod: KubeObject) => PodHandlers | undefined;
  /**
   * Returns the port on 127.0.0.1 that serves a port of a service, for proxies, webhooks and APIServices. `port` is the
   * port name, or empty if it has none. Undefined: the service is resolved as usual.
   */
  readonly service?: (service: KubeObject, port: string) => LocalService | undefined;
}
