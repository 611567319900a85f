import { setTimeout as sleep } from "node:timers/promises";
import { addAll } from "../../base/util/add-all.ts";
import { Silence } from "./silence.ts";
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

/** How to reach a cluster. The default times suit a cluster in one data centre. */
export interface ChannelOptions {
  /** `http://host:port` or `https://host:port`, one per member. */
  readonly endpoints: readonly string[];
  /** TLS material. A function is called before every connection and must not reject. */
  readonly tls?: TlsMaterial | (() => Promise<TlsMaterial>);
  readonly dialTimeoutMs?: number;
  readonly pingIntervalMs?: number;
  readonly pingTimeoutMs?: number;
  /** A read that needs a quorum, sent to find out whether an unresponsive cluster responds again. */
  readonly probe?: { readonly path: string; readonly request: Uint8Array };
  /** Called with an error when no member responds any more, and with undefined when one does again. */
  readonly silenceChanged?: (error: GrpcError | undefined) => void;
}

interface Endpoint {
  readonly url: URL;
  failures: number;
  /** Until this time, other members are preferred. */
  avoidUntil: number;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1000;
const LONGEST_AVOIDANCE_MS = 10_000;
/** How long calls wait for members that refuse connections, as during a restart, before they fail at once. */
const OUTAGE_PATIENCE_MS = 3000;
const PROBE_TIMEOUT_MS = 5000;
/**
 * Extra time for the call that finds the cluster unresponsive: after this process was paused, responses may be waiting
 * to be read.
 */
const SECOND_LOOK_MS = 300;

/**
 * Calls to a cluster over one connection at a time. A member that cannot be reached, does not respond or returns
 * "unavailable" is avoided for a while; calls move on to the next one. Once a cluster that was reachable has refused
 * all connections for 3 s, a call fails as soon as its own attempt to connect fails. If connections stay open but a
 * call got no response from any member, all calls fail at once until a probe succeeds.
 */
export class Channel implements Transport {
  readonly #connect: Connect;
  readonly #options: ChannelOptions;
  readonly #endpoints: Endpoint[];
  readonly #connections = new Map<Connection, Endpoint>();
  #current: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  /** When attempts to connect began to fail at every member. Infinity: the latest attempt succeeded. */
  #outageSince = Number.POSITIVE_INFINITY;
  #wasConnected = false;
  readonly #closing = new AbortController();
  readonly #silence: Silence;

  constructor(connect: Connect, options: ChannelOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#silence = new Silence({ probe: () => this.#probe(), changed: options.silenceChanged });
    this.#endpoints = options.endpoints.map((url) => ({ url: new URL(url), failures: 0, avoidUntil: 0 }));
    if (this.#endpoints.length === 0) throw new TypeError("no etcd endpoint given");
    // Servers started with the same list should not all connect to its first member.
    const first = Math.floor(Math.random() * this.#endpoints.length);
    addAll(this.#endpoints, this.#endpoints.splice(0, first));
  }

  async unary(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    if (this.#silence.isSilent) throw this.#silence.error(false);
    const deadline = Date.now() + options.timeoutMs;
    const answersBefore = this.#silence.answers;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      let connection: Connection | undefined;
      try {
        connection = this.#usable() ?? (await this.#connectBefore(deadline));
        // Half of the time is reserved for another member, in case this one does not respond.
        const remainingMs = Math.max(1, deadline - Date.now());
        const answer = await connection.unary(path, request, Math.min(remainingMs, options.timeoutMs / 2));
        this.#silence.answered();
        return answer;
      } catch (error) {
        if (connection !== undefined) this.#noteFailure(connection, error);
        if (await this.#isSilent(error, deadline, answersBefore)) throw this.#silence.error(mayHaveHappened(error));
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
    this.#silence.close();
    for (const connection of this.#connections.keys()) connection.destroy();
    this.#connections.clear();
    this.#current = undefined;
  }

  async #probe(): Promise<void> {
    const { probe } = this.#options;
    if (probe === undefined) return;
    const connection = this.#usable() ?? (await this.#connectBefore(Date.now() + PROBE_TIMEOUT_MS));
    await connection.unary(probe.path, probe.request, PROBE_TIMEOUT_MS);
  }

  /** Whether a call failed because no member responds any more. With several members, others have been tried before. */
  async #isSilent(error: unknown, deadline: number, answersBefore: number): Promise<boolean> {
    const isTimeout = error instanceof GrpcError && error.code === grpcStatus.deadlineExceeded;
    if (!isTimeout || this.#options.probe === undefined) return false;
    if (this.#endpoints.length > 1 && Date.now() + FIRST_PAUSE_MS < deadline) return false;
    this.#silence.noteTimeout(answersBefore);
    await this.#silence.over(SECOND_LOOK_MS);
    return this.#silence.isSilent;
  }

  /** Until when calls wait for unreachable members. A cluster that was never reachable may be about to start. */
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
    // Members to avoid come last, ordered by how soon they may be tried.
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

  async #dial(endpoint: Endpoint): Promise<Connection> {
    const { tls } = this.#options;
    return this.#connect({
      url: endpoint.url,
      tls: typeof tls === "function" ? await tls() : tls,
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
    // The member may be gone: PING it now, so that its open streams need not wait for the next regular PING.
    if (code === grpcStatus.deadlineExceeded) connection.check();
    if (code === grpcStatus.unavailable || code === grpcStatus.deadlineExceeded) this.#avoid(connection);
  }

  #avoid(connection: Connection): void {
    const endpoint = this.#connections.get(connection);
    // Only the first of many calls that fail together counts. With a single member there is no alternative.
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

function mayHaveHappened(error: unknown): boolean {
  return !(error instanceof GrpcError) || error.mayHaveHappened;
}

function mayRepeat(error: unknown, kind: CallOptions["kind"]): boolean {
  if (!(error instanceof GrpcError)) return false;
  if (!error.mayHaveHappened) return error.code === grpcStatus.unavailable;
  if (kind === "write") return false;
  return error.code === grpcStatus.unavailable || error.code === grpcStatus.deadlineExceeded;
}
