import type { Clock, Timer } from "./clock.ts";

/** Options of a work queue. */
export interface WorkQueueOptions<Key> {
  /** Processes a key. If it throws, the key is retried later. */
  readonly work: (key: Key) => Promise<void>;
  /** Times delayed keys. */
  readonly clock: Clock;
  /** Maximum number of keys processed at the same time. */
  readonly concurrency: number;
  /** Called on every failure. The queue continues. */
  readonly onError?: (error: unknown, key: Key) => void;
  /** Delay after the first failure. It doubles with each further failure in a row. Default: 5 ms. */
  readonly minBackoffMs?: number;
  /** Default: one minute. */
  readonly maxBackoffMs?: number;
  /** Maximum rate of retries of all keys together, after a burst of `retryBurst`. Default: unlimited. */
  readonly retriesPerSecond?: number;
  readonly retryBurst?: number;
  /**
   * A key waits while it is being added again and again, but only for some turns of the event loop: many changes in a row are then
   * processed together. Default: false.
   */
  readonly gathers?: boolean;
}

/** A key that gathers changes starts after so many turns without a further one, and after so many turns in any case. */
const QUIET_TURNS = 2;
const MAX_TURNS = 50;

/** In which turns a pending key was added first and last. */
interface Added {
  readonly first: number;
  readonly last: number;
}

interface Delay {
  readonly timer: Timer;
  readonly dueMs: number;
}

/**
 * A queue of keys, like client-go's workqueue. A pending key is not added twice, and no key is processed twice at the
 * same time. A key that is added while it is being processed is processed again afterwards. Work starts in a later turn
 * of the event loop, so that other work can run in between.
 */
export class WorkQueue<Key> {
  readonly #options: WorkQueueOptions<Key>;
  /** In the order in which they were added last. */
  readonly #ready = new Map<Key, Added>();
  readonly #running = new Set<Key>();
  readonly #again = new Set<Key>();
  readonly #delayed = new Map<Key, Delay>();
  readonly #failures = new Map<Key, number>();
  #turn: NodeJS.Immediate | undefined;
  #turns = 0;
  #waiters: (() => void)[] = [];
  #isClosed = false;
  /** When the next retry is due if no burst is left, on the monotonic clock. */
  #nextRetryMs = Number.NEGATIVE_INFINITY;

  constructor(options: WorkQueueOptions<Key>) {
    this.#options = options;
  }

  /** True if no key is pending, being processed, or waiting for a retry. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0 && this.#delayed.size === 0;
  }

  /** True if no key is pending, being processed, or waiting for a retry after a failure. Keys of `addAfter` may wait. */
  get isSettled(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0 && this.#failures.size === 0;
  }

  /** Processes the key as soon as possible. */
  add(key: Key): void {
    if (this.#isClosed) return;
    this.#cancelDelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#put(key);
    this.#schedule();
  }

  /** Processes the key after a delay, unless it is due earlier anyway. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#isClosed || this.#ready.has(key) || this.#again.has(key)) return;
    const { clock } = this.#options;
    const dueMs = clock.monotonic() + delayMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    this.#cancelDelay(key);
    this.#delayed.set(key, { dueMs, timer: clock.setTimer(delayMs, () => this.add(key)) });
  }

  /** Resolves when the queue is idle, or when it is closed and its running work has ended. */
  async idle(): Promise<void> {
    while (!this.isIdle) await this.#workEnded();
  }

  /** Resolves when the queue is settled, or closed and its running work has ended. */
  async settled(): Promise<void> {
    while (!this.isSettled) await this.#workEnded();
  }

  /** Drops all pending keys, accepts no more, and resolves when the running work has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#ready.clear();
    this.#again.clear();
    this.#failures.clear();
    for (const key of [...this.#delayed.keys()]) this.#cancelDelay(key);
    this.#notify();
    return this.idle();
  }

  #put(key: Key): void {
    const known = this.#ready.get(key);
    const first = known?.first ?? this.#turns;
    if (known && (!this.#options.gathers || this.#turns - first >= MAX_TURNS)) return;
    // As the last one, so that the order is that of the turns.
    if (known) this.#ready.delete(key);
    this.#ready.set(key, { first, last: this.#turns });
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#turns += 1;
      this.#start();
    });
  }

  #start(): void {
    const { concurrency, gathers = false } = this.#options;
    for (const [key, { last }] of this.#ready) {
      if (this.#running.size >= concurrency) return;
      if (gathers && this.#turns - last <= QUIET_TURNS) {
        this.#schedule();
        return;
      }
      this.#ready.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: Key): Promise<void> {
    try {
      await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#backOff(key);
      this.#options.onError?.(error, key);
    } finally {
      this.#running.delete(key);
      if (this.#again.delete(key)) this.add(key);
      if (this.#ready.size > 0) this.#schedule();
      this.#notify();
    }
  }

  #backOff(key: Key): void {
    if (this.#isClosed) return;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { minBackoffMs = 5, maxBackoffMs = 60_000 } = this.#options;
    const backoffMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** failures);
    this.addAfter(key, Math.max(backoffMs, this.#reserveRetry()));
  }

  /** Milliseconds until the common rate allows one more retry. */
  #reserveRetry(): number {
    const { clock, retriesPerSecond, retryBurst = 1 } = this.#options;
    if (retriesPerSecond === undefined) return 0;
    const periodMs = 1000 / retriesPerSecond;
    const now = clock.monotonic();
    const due = Math.max(this.#nextRetryMs, now - (retryBurst - 1) * periodMs);
    this.#nextRetryMs = due + periodMs;
    return Math.max(0, due - now);
  }

  #cancelDelay(key: Key): void {
    const delay = this.#delayed.get(key);
    if (delay === undefined) return;
    delay.timer.close();
    this.#delayed.delete(key);
  }

  #workEnded(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #notify(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
