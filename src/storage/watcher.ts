import { END, type Pollable, PollWaiter } from "../base/util/pollable.ts";
import type { StoreError, StoreWatch, WatchBatch, WatchInterest } from "./store.ts";
import type { WatchLog } from "./watch-log.ts";

const maxBatchEvents = 1000;

/** The logs that watchers read. */
export interface WatchedLogs {
  readonly revision: number;
  readonly closed: { readonly error: Error | undefined } | undefined;
  open(prefix: string, revision: number, interest?: WatchInterest): WatchLog;
  release(log: WatchLog): void;
  compactedError(prefix: string): StoreError;
}

/** One watch: a position in a log. Opens the log at the first `next()`. */
export class Watcher implements StoreWatch, AsyncIterator<WatchBatch, undefined>, Pollable<WatchBatch> {
  readonly #logs: WatchedLogs;
  readonly #prefix: string;
  readonly #signal: AbortSignal;
  readonly #interest: WatchInterest | undefined;
  #log: WatchLog | undefined;
  #waiter: PollWaiter<WatchBatch> | undefined;
  #onReady: (() => void) | undefined;
  /** Whether the last `poll` found nothing. */
  #isIdle = false;
  /** The last revision given out. */
  #cursor: number;
  /** The cursor when `poll` was last called. */
  #consumed: number;
  #isDone = false;

  constructor(
    logs: WatchedLogs,
    options: { prefix: string; revision: number; signal: AbortSignal; interest: WatchInterest | undefined },
  ) {
    this.#logs = logs;
    this.#prefix = options.prefix;
    this.#signal = options.signal;
    this.#interest = options.interest;
    this.#cursor = options.revision;
    this.#consumed = options.revision;
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchBatch, undefined> {
    return this;
  }

  progress(): number {
    const isIdle = this.#isIdle && (this.#log?.events.lastRevision ?? 0) <= this.#cursor;
    return isIdle ? Math.max(this.#consumed, this.#logs.revision) : this.#consumed;
  }

  next(): Promise<IteratorResult<WatchBatch, undefined>> {
    this.#waiter ??= new PollWaiter(this);
    return this.#waiter.next();
  }

  return(): Promise<IteratorResult<WatchBatch, undefined>> {
    this.#onAbort();
    return Promise.resolve({ done: true, value: undefined });
  }

  poll(): WatchBatch | undefined | typeof END {
    this.#consumed = this.#cursor;
    try {
      const batch = this.#read();
      this.#isIdle = batch === undefined;
      if (batch === END) this.stop();
      return batch;
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  onReady(wake: () => void): void {
    this.#onReady = wake;
    this.#log?.waiting.add(this);
  }

  stop(): void {
    this.#isDone = true;
    this.#isIdle = false;
    const log = this.#log;
    if (log === undefined) return;
    this.#log = undefined;
    log.waiting.delete(this);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#logs.release(log);
  }

  /** Makes the reader poll again. */
  wake(): void {
    this.#onReady?.();
  }

  readonly #onAbort = (): void => {
    this.stop();
    this.wake();
  };

  #read(): WatchBatch | undefined | typeof END {
    const error = this.#logs.closed?.error;
    if (error !== undefined && !this.#isDone && !this.#signal.aborted) throw error;
    if (this.#isDone || this.#signal.aborted || this.#logs.closed !== undefined) return END;
    return this.#take(this.#log ?? this.#open());
  }

  #open(): WatchLog {
    const log = this.#logs.open(this.#prefix, this.#cursor, this.#interest);
    this.#log = log;
    if (this.#onReady !== undefined) log.waiting.add(this);
    this.#signal.addEventListener("abort", this.#onAbort);
    return log;
  }

  #take(log: WatchLog): WatchBatch | undefined {
    if (log.droppedRevision > this.#cursor) throw this.#logs.compactedError(this.#prefix);
    if (log.events.lastRevision <= this.#cursor) return undefined;
    if (log.latest?.cursor !== this.#cursor) {
      const events = log.events.readAfter(this.#cursor, maxBatchEvents);
      const last = events.at(-1)?.revision ?? this.#cursor;
      const revision = last === log.events.lastRevision ? this.#logs.revision : last;
      log.latest = { cursor: this.#cursor, batch: { events, revision } };
    }
    const { batch } = log.latest;
    this.#cursor = batch.revision;
    return batch;
  }
}
