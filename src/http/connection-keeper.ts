import type { Http2Session } from "node:http2";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.ts";

/** How long a client may hold a connection that serves nobody. */
export interface ConnectionLimits {
  /** Without a request. */
  readonly idleMs: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** With an answer of which it takes nothing. */
  readonly stalledMs: number;
}

// Compat: `SecureServingInfo.Serve` has an IdleTimeout of 90 s and a ReadHeaderTimeout of 32 s. It waits for ever for a client
// that takes nothing; ours has two minutes, within which a whole piece of an answer, mostly 64 KB, must be on its way.
const DEFAULT_LIMITS: ConnectionLimits = { idleMs: 90_000, headersMs: 32_000, stalledMs: 120_000 };

type Connection = Duplex | Http2Session;

/** What is known of a connection. */
interface Use {
  /** Requests that are being answered. */
  open: number;
  /** The round at which there was none left. */
  idleSince: number;
}

/** An answer at the round when it last came forward. */
interface Stall {
  readonly bytes: number;
  readonly unsent: number;
  readonly since: number;
}

/**
 * Ends connections that nobody uses, and answers that nobody takes. It looks at all of them in rounds: bytes that begin no
 * request (line feeds, pings, a HEADERS frame without END_HEADERS) count for nothing, so that they keep nothing open.
 */
export class ConnectionKeeper {
  readonly limits: ConnectionLimits;
  /** How often it looks. */
  readonly roundMs: number;
  readonly #connections = new Map<Connection, Use>();
  readonly #exchanges: ReadonlyMap<Exchange, unknown>;
  readonly #timer: NodeJS.Timeout;
  #round = 0;
  #stalls = new Map<Exchange, Stall>();

  /** `exchanges` are those that are being answered. */
  constructor(exchanges: ReadonlyMap<Exchange, unknown>, limits: ConnectionLimits = DEFAULT_LIMITS) {
    this.#exchanges = exchanges;
    this.limits = limits;
    this.roundMs = Math.min(limits.idleMs, limits.headersMs, limits.stalledMs) / 4;
    this.#timer = setInterval(() => this.#look(), this.roundMs).unref();
  }

  /** Watches over a connection until it is closed. */
  add(connection: Connection): void {
    this.#connections.set(connection, { open: 0, idleSince: this.#round });
    connection.once("close", () => this.#connections.delete(connection));
  }

  /** A request has come. */
  begin(connection: Connection): void {
    const use = this.#connections.get(connection);
    if (use) use.open++;
  }

  /** Its answer is out, or will never be. */
  end(connection: Connection): void {
    const use = this.#connections.get(connection);
    if (use === undefined) return;
    use.open--;
    use.idleSince = this.#round;
  }

  /** Whether a request that came by it is being answered. */
  isUsed(connection: Connection): boolean {
    return (this.#connections.get(connection)?.open ?? 0) > 0;
  }

  /** Looks no more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#round++;
    const { idleMs, headersMs, stalledMs } = this.limits;
    for (const [connection, { open, idleSince }] of this.#connections) {
      if (open > 0) continue;
      const ms = (this.#round - idleSince) * this.roundMs;
      // Whoever begins a request in the last moment has the time to finish its headers.
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
