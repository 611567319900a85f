import type { Http2Session } from "node:http2";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.ts";

/** Time limits for connections without progress. */
export interface ConnectionLimits {
  /** Without a request. */
  readonly idleMs: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** With a response of which the client reads nothing. */
  readonly stalledMs: number;
}

// Compat: `SecureServingInfo.Serve` has an IdleTimeout of 90 s and a ReadHeaderTimeout of 32 s.
// Differs: kube-apiserver waits forever for a client that reads nothing. Here a client has two minutes to read a piece
// of the response, usually 64 KB.
const DEFAULT_LIMITS: ConnectionLimits = { idleMs: 90_000, headersMs: 32_000, stalledMs: 120_000 };

type Connection = Duplex | Http2Session;

/** State of a connection. */
interface Use {
  /** Number of requests in progress. */
  open: number;
  /** The round in which the last request ended. */
  idleSince: number;
}

/** A response, and the round in which it last made progress. */
interface Stall {
  readonly bytes: number;
  readonly unsent: number;
  readonly since: number;
}

/**
 * Closes idle connections, and aborts responses that the client does not read. Checks all connections periodically, in
 * rounds. Bytes that do not start a request (line feeds, pings, HEADERS frames without END_HEADERS) do not count as
 * activity.
 */
export class ConnectionKeeper {
  readonly limits: ConnectionLimits;
  /** Interval between two rounds. */
  readonly roundMs: number;
  readonly #connections = new Map<Connection, Use>();
  readonly #exchanges: ReadonlyMap<Exchange, unknown>;
  readonly #timer: NodeJS.Timeout;
  #round = 0;
  #stalls = new Map<Exchange, Stall>();

  /** `exchanges` are the requests in progress. */
  constructor(exchanges: ReadonlyMap<Exchange, unknown>, limits: ConnectionLimits = DEFAULT_LIMITS) {
    this.#exchanges = exchanges;
    this.limits = limits;
    this.roundMs = Math.min(limits.idleMs, limits.headersMs, limits.stalledMs) / 4;
    this.#timer = setInterval(() => this.#look(), this.roundMs).unref();
  }

  /** Monitors a connection until it is closed. */
  add(connection: Connection): void {
    this.#connections.set(connection, { open: 0, idleSince: this.#round });
    connection.once("close", () => this.#connections.delete(connection));
  }

  /** Call when a request starts. */
  begin(connection: Connection): void {
    const use = this.#connections.get(connection);
    if (use) use.open++;
  }

  /** Call when its response is complete or aborted. */
  end(connection: Connection): void {
    const use = this.#connections.get(connection);
    if (use === undefined) return;
    use.open--;
    use.idleSince = this.#round;
  }

  /** Whether the connection has a request in progress. */
  isUsed(connection: Connection): boolean {
    return (this.#connections.get(connection)?.open ?? 0) > 0;
  }

  /** Stops checking. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#round++;
    const { idleMs, headersMs, stalledMs } = this.limits;
    for (const [connection, { open, idleSince }] of this.#connections) {
      if (open > 0) continue;
      const ms = (this.#round - idleSince) * this.roundMs;
      // A request that starts at the last moment gets the time limit for its headers.
      if (ms > idleMs + headersMs) connection.destroy();
      else if (ms > idleMs && isSession(connection) && !connection.closed) connection.close();
    }
    const stalls = new Map<Exchange, Stall>();
    for (const exchange of this.#exchanges.keys()) {
      const unsent = exchange.carrier.unsentBytes;
      if (unsent === 0) continue;
      const { bytes } = exchange;
      const known = this.#stalls.get(exchange);
      const isSame = known !== undefined && known.bytes === bytes && known.unsent === unsent;
      const stall = isSame ? known : { bytes, unsent, since: this.#round };
      if ((this.#round - stall.since) * this.roundMs > stalledMs) exchange.carrier.giveUp();
      else stalls.set(exchange, stall);
    }
    this.#stalls = stalls;
  }
}

function isSession(connection: Connection): connection is Http2Session {
  return "goaway" in connection;
}
