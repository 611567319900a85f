/** etcd closes connections that get PINGs more often than every 5 s. */
const SHORTEST_INTERVAL_MS = 5500;

/** When to send PINGs, and callbacks. */
export interface KeepAliveOptions {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Sends a PING. */
  ping(): void;
  /** Called if a PING was not answered in time. */
  lost(): void;
}

/** Sends PINGs regularly and on demand, but never so often that etcd closes the connection. */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  readonly #shortestMs: number;
  readonly #interval: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #askedMs = 0;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
    this.#shortestMs = Math.min(SHORTEST_INTERVAL_MS, options.intervalMs / 2);
    this.#interval = setInterval(() => this.check(), options.intervalMs).unref();
  }

  /** Sends a PING now, unless one was sent recently. */
  check(): void {
    const nowMs = Date.now();
    if (nowMs - this.#askedMs < this.#shortestMs || this.#timer !== undefined) return;
    this.#askedMs = nowMs;
    this.#timer = setTimeout(() => this.#options.lost(), this.#options.timeoutMs).unref();
    this.#options.ping();
  }

  /** Call for each PING response. */
  answered(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Stops sending PINGs. */
  close(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#timer);
  }
}
