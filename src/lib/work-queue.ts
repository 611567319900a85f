import type { Clock, Timer } from "./clock.ts";

/** How a queue works off its keys. */
export interface WorkQueueOptions<Key> {
  /** Does what a key stands for. When it throws, the key is tried again later. */
  readonly work: (key: Key) => Promise<void>;
  /** Tells when a key that has to wait is due. */
  readonly clock: Clock;
  /** How many keys are worked on at the same time. */
  readonly concurrency: number;
  /** Learns of every failure; the queue itself goes on. */
  readonly onError?: (error: unknown, key: Key) => void;
  /** The wait after the first failure in a row; it doubles with each further one. Default: 5 ms. */
  readonly minBackoffMs?: number;
  /** Default: one minute. */
  readonly maxBackoffMs?: number;
}

interface Delay {
  readonly timer: Timer;
  readonly dueMs: number;
}

/**
 * Keys to be worked on. A key that waits already is not added twice, no key is worked on twice at the same time, and
 * one that is added while it is worked on comes again afterwards. Work begins in a later turn of the event loop, and
 * other things get their turn in between.
 */
export class WorkQueue<Key> {
  readonly #options: WorkQueueOptions<Key>;
  readonly #ready = new Set<Key>();
  readonly #running = new Set<Key>();
  readonly #again = new Set<Key>();
  readonly #delayed = new Map<Key, Delay>();
  readonly #failures = new Map<Key, number>();
  #turn: NodeJS.Immediate | undefined;
  #waiters: (() => void)[] = [];
  #isClosed = false;

  constructor(options: WorkQueueOptions<Key>) {
    this.#options = options;
  }

  /** True when nothing is waiting, being worked on or going to be tried again. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0 && this.#delayed.size === 0;
  }

  /** Has the key worked on as soon as possible. */
  add(key: Key): void {
    if (this.#isClosed) return;
    this.#cancelDelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#ready.add(key);
    this.#schedule();
  }

  /** Has the key worked on after a while, unless it is due earlier anyway. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#isClosed || this.#ready.has(key) || this.#again.has(key)) return;
    const { clock } = this.#options;
    const dueMs = clock.monotonic() + delayMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    this.#cancelDelay(key);
    this.#delayed.set(key, { dueMs, timer: clock.setTimer(delayMs, () => this.add(key)) });
  }

  /** Resolves when the queue is idle, or closed and done with what it had begun. */
  async idle(): Promise<void> {
    while (!this.isIdle) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Forgets all waiting keys, takes no more, and resolves when the work that had begun has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#ready.clear();
    this.#again.clear();
    for (const key of [...this.#delayed.keys()]) this.#cancelDelay(key);
    this.#notify();
    return this.idle();
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#start();
    });
  }

  #start(): void {
    for (const key of this.#ready) {
      if (this.#running.size >= this.#options.concurrency) return;
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
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { minBackoffMs = 5, maxBackoffMs = 60_000 } = this.#options;
    this.addAfter(key, Math.min(maxBackoffMs, minBackoffMs * 2 ** failures));
  }

  #cancelDelay(key: Key): void {
    const delay = this.#delayed.get(key);
    if (delay === undefined) return;
    delay.timer.close();
    this.#delayed.delete(key);
  }

  #notify(): void {
    if (!this.isIdle) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
