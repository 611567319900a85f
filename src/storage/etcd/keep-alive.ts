/** etcd closes connections on which PINGs come more often than every five seconds. */
const SHORTEST_INTERVAL_MS = 5500;

/** How often to ask for a sign of life, and what to do. */
export interface KeepAliveOptions {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Sends a PING. */
  ping(): void;
  /** Called when no answer came in time. */
  lost(): void;
}

/** Asks a peer for signs of life, regularly and on demand, but never so often that it takes offence. */
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

  /** Asks now, unless that was done just before. */
  check(): void {
    const nowMs = Date.now();
    if (nowMs - this.#askedMs < this.#shortestMs || this.#timer !== undefined) return;
    this.#askedMs = nowMs;
    this.#timer = setTimeout(() => this.#options.lost(), this.#options.timeoutMs).unref();
    this.#options.ping();
  }

  /** To be told of each answer. */
  answered(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Stops asking. */
  close(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#timer);
  }
}
