import type { Duplex } from "node:stream";
import type { KubeObject } from "../../../base/api/object.ts";
import type { CommandRequest } from "./command-request.ts";
import type { ContainerImages } from "./container-functions.ts";

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
  /** What containers on simulated nodes do, by patterns of their images. */
  readonly images?: ContainerImages;
}
