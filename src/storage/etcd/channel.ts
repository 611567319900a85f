import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallOptions,
  type Connect,
  type Connection,
  GrpcError,
  grpcStatus,
  type MessageStream,
  type TlsMaterial,
  type Transport,
} from "./transport.ts";

/** How to reach a cluster. Times have defaults that suit a cluster in one data centre. */
export interface ChannelOptions {
  /** `http://host:port` or `https://host:port`, one per member. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsMaterial;
  readonly dialTimeoutMs?: number;
  readonly pingIntervalMs?: number;
  readonly pingTimeoutMs?: number;
}

interface Endpoint {
  readonly url: URL;
  failures: number;
  /** Not chosen before this time while another one can be. */
  avoidUntil: number;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1000;
const LONGEST_AVOIDANCE_MS = 10_000;
/** Members that refuse connections are given so long to come back, as after a restart, before calls fail at once. */
const OUTAGE_PATIENCE_MS = 3000;

/**
 * Calls to a cluster over one connection at a time. A member that cannot be reached, does not answer or says that it is
 * not available is avoided for a while; calls move on to the next one. Once a cluster that was there has refused all
 * connections for three seconds, calls fail as soon as one more attempt to connect has.
 */
export class Channel implements Transport {
  readonly #connect: Connect;
  readonly #options: ChannelOptions;
  readonly #endpoints: Endpoint[];
  readonly #connections = new Map<Connection, Endpoint>();
  #current: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  /** Since when every attempt to connect has failed at every member; Infinity: the latest has not. */
  #outageSince = Number.POSITIVE_INFINITY;
  #wasConnected = false;
  readonly #closing = new AbortController();

  constructor(connect: Connect, options: ChannelOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#endpoints = options.endpoints.map((url) => ({ url: new URL(url), failures: 0, avoidUntil: 0 }));
    if (this.#endpoints.length === 0) throw new TypeError("no etcd endpoint given");
    // Several servers started with the same list should not all lean on its first member.
    const first = Math.floor(Math.random() * this.#endpoints.length);
    this.#endpoints.push(...this.#endpoints.splice(0, first));
  }

  async unary(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const deadline = Date.now() + options.timeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      let connection: Connection | undefined;
      try {
        connection = this.#usable() ?? (await this.#connectBefore(deadline));
        // A member that keeps silent for half of the time leaves the other half to another one.
        const remainingMs = Math.max(1, deadline - Date.now());
        return await connection.unary(path, request, Math.min(remainingMs, options.timeoutMs / 2));
      } catch (error) {
        if (connection !== undefined) this.#noteFailure(connection, error);
        const patienceEnd = connection === undefined ? Math.min(deadline, this.#patienceEnd()) : deadline;
        if (this.#closing.signal.aborted || !mayRepeat(error, options.kind) || Date.now() + pauseMs >= patienceEnd)
          throw error;
        await sleep(pauseMs * (0.5 + Math.random() / 2));
      }
    }
  }

  async stream(path: string): Promise<MessageStream> {
    const connection = this.#usable() ?? (await this.#connectBefore(Number.POSITIVE_INFINITY));
    return connection.stream(path);
  }

  avoidCurrent(): void {
    if (this.#current !== undefined) this.#avoid(this.#current);
  }

  close(): void {
    this.#closing.abort();
    for (const connection of this.#connections.keys()) connection.destroy();
    this.#connections.clear();
    this.#current = undefined;
  }

  /** Until when calls wait for members that cannot be reached. One that has never been there may be about to start. */
  #patienceEnd(): number {
    return this.#wasConnected ? this.#outageSince + OUTAGE_PATIENCE_MS : Number.POSITIVE_INFINITY;
  }

  #usable(): Connection | undefined {
    return this.#current?.isLost === false ? this.#current : undefined;
  }

  async #connectBefore(deadline: number): Promise<Connection> {
    this.#connecting ??= this.#connectToAny().finally(() => {
      this.#connecting = undefined;
    });
    if (deadline === Number.POSITIVE_INFINITY) return this.#connecting;
    const stop = new AbortController();
    const late = sleep(Math.max(1, deadline - Date.now()), undefined, { signal: stop.signal }).then(() => {
      throw new GrpcError(grpcStatus.deadlineExceeded, "no member could be reached in time", {
        mayHaveHappened: false,
      });
    });
    try {
      return await Promise.race([this.#connecting, late]);
    } finally {
      late.catch(() => undefined);
      stop.abort();
    }
  }

  async #connectToAny(): Promise<Connection> {
    const now = Date.now();
    // Members to avoid come last, the one that may be tried soonest first.
    const order = [...this.#endpoints].sort((a, b) => Math.max(a.avoidUntil, now) - Math.max(b.avoidUntil, now));
    let failure: unknown;
    for (const endpoint of order) {
      if (this.#closing.signal.aborted) break;
      try {
        return this.#adopt(endpoint, await this.#dial(endpoint));
      } catch (error) {
        this.#postpone(endpoint);
        failure = error;
      }
    }
    this.#outageSince = Math.min(this.#outageSince, Date.now());
    if (failure instanceof GrpcError && !this.#closing.signal.aborted) throw failure;
    throw new GrpcError(grpcStatus.unavailable, "the channel is closed", { mayHaveHappened: false, cause: failure });
  }

  #dial(endpoint: Endpoint): Promise<Connection> {
    return this.#connect({
      url: endpoint.url,
      tls: this.#options.tls,
      signal: this.#closing.signal,
      timeoutMs: this.#options.dialTimeoutMs ?? 5000,
      pingIntervalMs: this.#options.pingIntervalMs ?? 30_000,
      pingTimeoutMs: this.#options.pingTimeoutMs ?? 10_000,
    });
  }

  #adopt(endpoint: Endpoint, connection: Connection): Connection {
    if (this.#closing.signal.aborted) {
      connection.destroy();
      throw new GrpcError(grpcStatus.unavailable, "the channel is closed", { mayHaveHappened: false });
    }
    for (const known of this.#connections.keys()) if (known.isClosed) this.#connections.delete(known);
    this.#connections.set(connection, endpoint);
    this.#current = connection;
    this.#outageSince = Number.POSITIVE_INFINITY;
    this.#wasConnected = true;
    endpoint.failures = 0;
    return connection;
  }

  #noteFailure(connection: Connection, error: unknown): void {
    const code = error instanceof GrpcError ? error.code : grpcStatus.unknown;
    // Silence may mean that the other side is gone; its open streams should not have to wait for the next regular PING.
    if (code === grpcStatus.deadlineExceeded) connection.check();
    if (code === grpcStatus.unavailable || code === grpcStatus.deadlineExceeded) this.#avoid(connection);
  }

  #avoid(connection: Connection): void {
    const endpoint = this.#connections.get(connection);
    // Only the first of many calls failing together counts, and with a single member there is nowhere else to go.
    if (endpoint === undefined || connection !== this.#current) return;
    if (this.#endpoints.length === 1 && !connection.isLost) return;
    this.#postpone(endpoint);
    this.#current = undefined;
    connection.drain();
  }

  #postpone(endpoint: Endpoint): void {
    endpoint.failures++;
    endpoint.avoidUntil = Date.now() + Math.min(250 * 2 ** endpoint.failures, LONGEST_AVOIDANCE_MS);
  }
}

function mayRepeat(error: unknown, kind: CallOptions["kind"]): boolean {
  if (!(error instanceof GrpcError)) return false;
  if (!error.mayHaveHappened) return error.code === grpcStatus.unavailable;
  if (kind === "write") return false;
  return error.code === grpcStatus.unavailable || error.code === grpcStatus.deadlineExceeded;
}
