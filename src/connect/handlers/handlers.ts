import type { Duplex, Readable, Writable } from "node:stream";
import type { KubeObject } from "../../api/object.ts";
import type { TerminalSize } from "../remote-command/session.ts";

/** A command that a client wants to run, or a process that it wants to attach to. */
export interface CommandRequest {
  readonly pod: KubeObject;
  readonly container: string;
  /** The program and its arguments. Empty for attach. */
  readonly command: readonly string[];
  /** Whether the client has a terminal. */
  readonly tty: boolean;
  /** Undefined: the client sends nothing. Ends when the client says so, or leaves. */
  readonly stdin: Readable | undefined;
  /** Undefined: the client does not want it. What is written waits until the client reads. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Hears how large the client's terminal is. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborts when the client has left, or the server shuts down. */
  readonly signal: AbortSignal;
}

/** A log that a client wants to read. */
export interface LogRequest {
  readonly pod: KubeObject;
  readonly container: string;
  /** Go on when the end is reached. */
  readonly follow: boolean;
  /** Of the container before its last restart. */
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Only so many lines from the end. */
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** RFC 3339. */
  readonly sinceTime: string | undefined;
  /** No more than this is sent, whatever the handler gives. */
  readonly limitBytes: number | undefined;
  readonly signal: AbortSignal;
}

/** What stands behind a pod in the place of a node. What is absent is refused to clients. */
export interface PodHandlers {
  /** Runs a command. Its result is the exit code, 0 if there is none; what it throws is told to the client. */
  readonly exec?: (request: CommandRequest) => Promise<number | undefined>;
  readonly attach?: (request: CommandRequest) => Promise<number | undefined>;
  /** The lines of a log. `tailLines`, times and `follow` are up to the handler. */
  readonly log?: (request: LogRequest) => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  /** Takes a connection with a port, of port-forward. It is closed when the promise settles. */
  readonly port?: (port: number, connection: Duplex, signal: AbortSignal) => Promise<void>;
}

/** Where a service answers on this machine. */
export interface LocalService {
  readonly port: number;
}

/** Functions in the place of nodes, for control planes that have none. They are asked for each request. */
export interface Handlers {
  /** What stands behind a pod. Undefined: its node. */
  readonly pod?: (pod: KubeObject) => PodHandlers | undefined;
  /**
   * The port on 127.0.0.1 that stands behind a port of a service, for proxies, webhooks and APIServices. `port` is its name,
   * empty if it has none. Undefined: what the service itself says.
   */
  readonly service?: (service: KubeObject, port: string) => LocalService | undefined;
}
