import { END, type Pollable, PollWaiter } from "../base/util/pollable.ts";
import { EventLog } from "./event-log.ts";
import { StoreError, type StoreEvent, type StoreWatch, type WatchBatch } from "./store.ts";

const maxBatchEvents = 1000;
const maxWokenPerTurn = 256;

/** The events of one watched prefix, shared by all its watchers. */
interface PrefixLog {
  readonly prefix: string;
  events: EventLog;
  /** Holds every event with the prefix after this revision, except compacted ones. */
  start: number;
  /** Revision of the newest event that was compacted. */
  droppedRevision: number;
  watchers: number;
  readonly waiting: Set<Watcher>;
  isDirty: boolean;
  /** The latest batch read, shared by all watchers at the same position. */
  latest: { readonly cursor: number; readonly batch: WatchBatch } | undefined;
}

/**
 * Watches over a log. Each watched prefix has a log of its own, so a change only wakes its watchers, and a watcher is
 * just a position. Example, with watchers on "/pods/" and "/pods/a/x":
 *   event "/pods/b/y"   goes to the log of "/pods/"
 *   event "/pods/a/x1"  goes to both ("/pods/a/x" is a prefix of it as well)
 *   event "/nodes/n"    goes to neither and wakes no watcher
 */
export class WatchLogs {
  readonly #all: EventLog;
  readonly #byPrefix = new Map<string, PrefixLog>();
  // Lengths of the watched prefixes that do not end in "/", by their folder, with the number of prefixes of that
  // length.
  readonly #lengths = new Map<string, Map<number, number>>();
  #dirty: PrefixLog[] = [];
  /** The watchers of the log being processed, and how many of them have been woken. */
  #woken: readonly Watcher[] = [];
  #wokenAt = 0;
  #isWaking = false;
  #revision: number;
  /** Every event after this revision is kept. */
  #start: number;
  /** The oldest revision kept, as reported to callers. */
  #oldest: number;
  #closed: { readonly error: Error | undefined } | undefined;

  /** `all` is the log of all events; it holds everything after `revision`. */
  constructor(all: EventLog, revision: number) {
    this.#all = all;
    this.#revision = revision;
    this.#start = revision;
    this.#oldest = revision;
  }

  /** The revision up to which everything has been appended. */
  get revision(): number {
    return this.#revision;
  }

  /** Set after `close`, with its error if any; undefined while open. */
  get closed(): { readonly error: Error | undefined } | undefined {
    return this.#closed;
  }

  /** How many prefixes have a log now. */
  get prefixes(): number {
    return this.#byPrefix.size;
  }

  /** Adds an event, already in the log of all events, to the logs of its prefixes. Visible after `complete`. */
  append(event: StoreEvent): void {
    if (this.#byPrefix.size === 0) return;
    const { key } = event;
    for (let start = 0; start <= key.length; ) {
      const slash = key.indexOf("/", start);
      this.#appendInFolder(event, start, slash === -1 ? key.length : slash);
      if (slash === -1) return;
      start = slash + 1;
    }
  }

  /** Declares that everything up to `revision` was appended, and wakes the watchers of what was. */
  complete(revision: number): void {
    this.#revision = revision;
    if (this.#dirty.length > 0) queueMicrotask(() => this.#wake());
  }

  /** Does nothing until the first `next()`. */
  watch(prefix: string, revision: number, signal: AbortSignal): StoreWatch {
    return new Watcher(this, { prefix, revision, signal });
  }

  /** Drops events older than `revision` from all logs. */
  dropBefore(revision: number): void {
    this.#start = revision - 1;
    this.#oldest = revision;
    for (const log of this.#byPrefix.values()) {
      const dropped = log.events.dropBefore(revision).at(-1);
      if (dropped !== undefined) log.droppedRevision = dropped.revision;
    }
  }

  /** Ends all watches, without an error or with the given one. */
  close(error?: Error): void {
    this.#closed ??= { error };
    for (const log of [...this.#byPrefix.values()]) {
      for (const watcher of [...log.waiting]) watcher.wake();
    }
  }

  /** The log of a prefix with all events after `revision`. Each call must be matched by a call of `release`. */
  open(prefix: string, revision: number): PrefixLog {
    if (revision < this.#start) throw this.compactedError(prefix);
    let log = this.#byPrefix.get(prefix);
    if (log === undefined || revision < log.start) {
      const events = new EventLog();
      for (let i = this.#all.indexAfter(revision); i < this.#all.length; i++) {
        const event = this.#all.at(i);
        if (event?.key.startsWith(prefix)) events.append(event);
      }
      log = this.#replaceLog(log, prefix, events);
      log.start = revision;
    }
    log.watchers++;
    return log;
  }

  /** Releases a log returned by `open`. The last release drops the log. */
  release(log: PrefixLog): void {
    log.watchers--;
    if (log.watchers > 0) return;
    this.#byPrefix.delete(log.prefix);
    this.#countLength(log.prefix, -1);
  }

  /** Error for a watcher whose next event was compacted. */
  compactedError(prefix: string): StoreError {
    const message = `the history of ${JSON.stringify(prefix)} is only kept from revision ${this.#oldest} on`;
    return new StoreError("compacted", message, { revision: this.#oldest });
  }

  /** The folder is the key up to `start`; the name in it, of a leaf or of a folder, ends at `end`. */
  #appendInFolder(event: StoreEvent, start: number, end: number): void {
    const folder = event.key.slice(0, start);
    this.#appendTo(this.#byPrefix.get(folder), event);
    const lengths = this.#lengths.get(folder);
    if (lengths === undefined) return;
    for (const length of lengths.keys()) {
      // A longer prefix lies in a deeper folder, which is handled later.
      if (length <= end) this.#appendTo(this.#byPrefix.get(event.key.slice(0, length)), event);
    }
  }

  #appendTo(log: PrefixLog | undefined, event: StoreEvent): void {
    if (log === undefined) return;
    log.events.append(event);
    log.latest = undefined;
    if (log.isDirty || log.waiting.size === 0) return;
    log.isDirty = true;
    this.#dirty.push(log);
  }

  #wake(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    this.#wakeSome();
  }

  /**
   * Wakes the watchers of one changed log after the other. If there are many, yields to the event loop in between, so
   * that their responses are sent before too many accumulate. A log that changes meanwhile is processed again.
   */
  #wakeSome(): void {
    for (let left = maxWokenPerTurn; ; ) {
      if (this.#wokenAt === this.#woken.length) {
        const log = this.#dirty.shift();
        this.#woken = log === undefined ? [] : [...log.waiting];
        this.#wokenAt = 0;
        this.#isWaking = log !== undefined;
        if (log === undefined) return;
        log.isDirty = false;
      } else if (left-- > 0) {
        this.#woken[this.#wokenAt++]?.wake();
      } else {
        setImmediate(() => this.#wakeSome());
        return;
      }
    }
  }

  // Watchers keep a reference to their log, so a log that has to reach further back is refilled in place.
  #replaceLog(log: PrefixLog | undefined, prefix: string, events: EventLog): PrefixLog {
    if (log !== undefined) {
      log.events = events;
      log.latest = undefined;
      return log;
    }
    const created: PrefixLog = {
      prefix,
      events,
      start: 0,
      droppedRevision: 0,
      watchers: 0,
      waiting: new Set(),
      isDirty: false,
      latest: undefined,
    };
    this.#byPrefix.set(prefix, created);
    this.#countLength(prefix, 1);
    return created;
  }

  #countLength(prefix: string, step: 1 | -1): void {
    const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    if (folder === prefix) return;
    const lengths = this.#lengths.get(folder) ?? new Map<number, number>();
    const count = (lengths.get(prefix.length) ?? 0) + step;
    if (count > 0) lengths.set(prefix.length, count);
    else lengths.delete(prefix.length);
    if (lengths.size > 0) this.#lengths.set(folder, lengths);
    else this.#lengths.delete(folder);
  }
}

class Watcher implements StoreWatch, AsyncIterator<WatchBatch, undefined>, Pollable<WatchBatch> {
  readonly #logs: WatchLogs;
  readonly #prefix: string;
  readonly #signal: AbortSignal;
  #log: PrefixLog | undefined;
  #waiter: PollWaiter<WatchBatch> | undefined;
  #onReady: (() => void) | undefined;
  /** Whether the last `poll` found nothing. */
  #isIdle = false;
  /** The last revision given out. */
  #cursor: number;
  /** The cursor when `poll` was last called. */
  #consumed: number;
  #isDone = false;

  constructor(logs: WatchLogs, options: { prefix: string; revision: number; signal: AbortSignal }) {
    this.#logs = logs;
    this.#prefix = options.prefix;
    this.#signal = options.signal;
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

  #open(): PrefixLog {
    const log = this.#logs.open(this.#prefix, this.#cursor);
    this.#log = log;
    if (this.#onReady !== undefined) log.waiting.add(this);
    this.#signal.addEventListener("abort", this.#onAbort);
    return log;
  }

  #take(log: PrefixLog): WatchBatch | undefined {
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
