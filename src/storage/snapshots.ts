import { type Clock, systemClock, type Timer } from "../base/util/clock.ts";
import type { Sequence } from "../base/util/sequence.ts";
import { EventLog } from "./event-log.ts";
import { compareKeys, type KeyRange, OrderedMap, prefixEnd } from "./ordered-map.ts";
import { PastStates } from "./past-states.ts";
import { type Entry, type Page, StoreError, type StoreEvent, type StoreWatch, type WatchInterest } from "./store.ts";
import { WatchLogs } from "./watch-logs.ts";

/** Initial state of a Snapshots: all entries as of `revision`. If `entries` is omitted, an empty state. */
export interface SnapshotsStart {
  readonly revision: number;
  readonly entries?: Iterable<Entry>;
  /** Times waits for a revision. Default: the system clock. */
  readonly clock?: Clock;
}

/** An immutable state. It shares its data with the Snapshots it was taken from. */
export interface FrozenState {
  readonly revision: number;
  readonly map: OrderedMap<Entry>;
}

/** What a list selects. If `revision` is omitted, the newest known state. */
export interface SnapshotListOptions {
  readonly after?: string;
  readonly limit?: number;
  readonly revision?: number;
}

interface RevisionWaiter {
  readonly revision: number;
  readonly timer: Timer;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * State, history and watches in memory, fed with events by their source (a store or a watch). History is kept until
 * `compact` is called. Reads are synchronous and see everything applied so far; reading past states is cheap (see
 * PastStates).
 */
export class Snapshots {
  readonly #log = new EventLog();
  readonly #past = new PastStates(this.#log);
  readonly #watches: WatchLogs;
  #map = new OrderedMap<Entry>();
  readonly #waiters = new Set<RevisionWaiter>();
  readonly #clock: Clock;
  #revision: number;
  #oldest: number;
  #historyBytes = 0;

  constructor(start: SnapshotsStart) {
    this.#revision = start.revision;
    this.#clock = start.clock ?? systemClock;
    this.#oldest = start.revision;
    this.#watches = new WatchLogs(this.#log, start.revision);
    for (const entry of start.entries ?? []) this.#map.set(entry.key, entry);
  }

  /** The newest state, for `Snapshots.from`. Takes constant time, independent of its size. */
  freeze(): FrozenState {
    return { revision: this.#revision, map: this.#map.clone() };
  }

  /** Starts with a frozen state, without its history. */
  static from({ revision, map }: FrozenState, clock?: Clock): Snapshots {
    const snapshots = new Snapshots({ revision, clock });
    snapshots.#map = map.clone();
    return snapshots;
  }

  /** The newest revision up to which every event was applied. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest revision that can still be listed. */
  get oldestRevision(): number {
    return this.#oldest;
  }

  /** How many events of history are kept. */
  get eventCount(): number {
    return this.#log.length;
  }

  /** Bytes of values that only history keeps: each event keeps the previous value. */
  get historyBytes(): number {
    return this.#historyBytes;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#map.size;
  }

  /** How many prefixes are being watched. */
  get watchedPrefixes(): number {
    return this.#watches.prefixes;
  }

  /**
   * Appends events with ascending revisions and wakes their watchers. Several events may share a revision, but then
   * they must come in one call. `previous` is taken from the current state, so it need not be set. A delete of a
   * missing key changes nothing and is not recorded. If `revision` is higher than the last event's, it has the effect
   * of `advance`.
   */
  apply(events: readonly StoreEvent[], revision: number = events.at(-1)?.revision ?? this.#revision): void {
    this.#requireAscending(events, revision);
    let count = 0;
    for (const given of events) {
      const { key, entry } = given;
      const previous = entry === undefined ? this.#map.delete(key) : this.#map.set(key, entry);
      if (entry === undefined && previous === undefined) continue;
      const event = given.previous === previous ? given : { revision: given.revision, key, entry, previous };
      this.#log.append(event);
      this.#historyBytes += bytesBefore(event);
      this.#watches.append(event);
      count++;
    }
    this.advance(revision);
    this.#past.advance(count, { revision, map: this.#map });
  }

  /** Records that nothing changed from the last event up to `revision`. A lower revision has no effect. */
  advance(revision: number): void {
    if (revision < this.#revision) return;
    this.#revision = revision;
    this.#watches.complete(revision);
    for (const waiter of this.#waiters) {
      if (waiter.revision <= revision) this.#settle(waiter)?.resolve();
    }
  }

  /** The newest entry, or undefined. */
  get(key: string): Entry | undefined {
    return this.#map.get(key);
  }

  /** Throws StoreError "compacted" if `revision` was compacted, "future-revision" if it is not reached yet. */
  list(prefix: string, options: SnapshotListOptions = {}): Page {
    const revision = options.revision ?? this.#revision;
    const map = this.#stateAt(revision);
    const { limit } = options;
    const range = rangeOf(prefix, options.after);
    const entries = map.values({ ...range, limit });
    const last = limit === undefined || limit === 0 ? undefined : entries.at(-1);
    const remaining = last === undefined ? 0 : map.countRange(last.key, range.to);
    // Further pages of this list will be read at the same revision.
    if (remaining > 0 && map === this.#map) this.#past.keep({ revision, map });
    return { entries, revision, remaining };
  }

  count(prefix: string): number {
    return this.#map.slice(rangeOf(prefix, undefined)).length;
  }

  /** Like `list` at a revision, without copying. Undefined if the revision was compacted or is not reached yet. */
  slice(prefix: string, options: { readonly revision: number; readonly after?: string }): Sequence<Entry> | undefined {
    const { revision, after } = options;
    if (revision > this.#revision || revision < this.#oldest) return undefined;
    const map = this.#stateAt(revision);
    // The current map will change; cloning it copies a pointer.
    return (map === this.#map ? map.clone() : map).slice(rangeOf(prefix, after));
  }

  /**
   * Every change with this prefix after `revision`. A revision not reached yet is waited for without an error. After
   * `close`, throws the error given there, or StoreError "closed"; `next()` throws StoreError "compacted".
   */
  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    this.#requireOpen();
    return this.#watches.watch(prefix, revision, signal, interest);
  }

  /**
   * Drops history before `revision`, and returns the dropped events. An earlier `revision` has no effect; one not
   * reached yet throws StoreError "future-revision". Example, with writes of one key at 2, 5 and 9 (delete):
   *   compact(5)   keeps events 5 and 9; lists at 4 fail, lists at 5 succeed; watches after 3 fail,
   *                watches after 4 begin with event 5, whose `previous` is still the value of 2
   *   compact(9)   keeps event 9; a list at 9 is empty; a watch after 8 begins with the delete
   *   compact(10)  keeps nothing (if other keys have brought the store to 10 or more)
   * A watcher that has read all events of its prefix is not affected, however old its position.
   */
  compact(revision: number): readonly StoreEvent[] {
    if (revision > this.#revision) throw this.#futureError(revision);
    if (revision <= this.#oldest) return [];
    this.#oldest = revision;
    this.#past.dropBefore(revision);
    this.#watches.dropBefore(revision);
    const dropped = this.#log.dropBefore(revision);
    for (const event of dropped) this.#historyBytes -= bytesBefore(event);
    return dropped;
  }

  /** The highest revision for which `compact` would keep at most `maxEvents` events, give or take one revision. */
  revisionToKeep(maxEvents: number): number {
    return this.#log.at(this.#log.length - maxEvents)?.revision ?? this.#oldest;
  }

  /** The lowest revision for which `compact` would keep at most `maxBytes` bytes; the newest if there is none. */
  revisionToKeepBytes(maxBytes: number): number {
    let bytes = this.#historyBytes;
    for (let index = 0; bytes > maxBytes; index++) {
      const event = this.#log.at(index);
      if (event === undefined) break;
      bytes -= bytesBefore(event);
      if (bytes <= maxBytes) return Math.min(event.revision + 1, this.#revision);
    }
    return bytes <= maxBytes ? this.#oldest : this.#revision;
  }

  /** Resolves once `revision` is reached; rejects with StoreError "future-revision" after `timeoutMs`. */
  waitFor(revision: number, timeoutMs: number): Promise<void> {
    if (this.#watches.closed !== undefined) return Promise.reject(this.#closedError());
    if (revision <= this.#revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = () => this.#settle(waiter)?.reject(this.#futureError(revision));
      const timer = this.#clock.setTimer(timeoutMs, late);
      const waiter: RevisionWaiter = { revision, timer, resolve, reject };
      this.#waiters.add(waiter);
    });
  }

  /** Ends all watches, without an error or with the given one, and rejects all waiters. Reads still work. */
  close(error?: Error): void {
    this.#watches.close(error);
    for (const waiter of this.#waiters) this.#settle(waiter)?.reject(this.#closedError());
  }

  #stateAt(revision: number): OrderedMap<Entry> {
    if (revision === this.#revision) return this.#map;
    if (revision > this.#revision) throw this.#futureError(revision);
    if (revision < this.#oldest) {
      const message = `revision ${revision} has been compacted, the oldest is ${this.#oldest}`;
      throw new StoreError("compacted", message, { revision: this.#oldest });
    }
    return this.#past.at(revision, { revision: this.#revision, map: this.#map });
  }

  #requireAscending(events: readonly StoreEvent[], revision: number): void {
    let last = this.#revision + 1;
    for (const event of events) {
      if (event.revision < last)
        throw new RangeError(`event has revision ${event.revision}, expected at least ${last}`);
      last = event.revision;
    }
    if (events.length > 0 && revision < last)
      throw new RangeError(`revision ${revision} is lower than that of the last event, ${last}`);
  }

  #requireOpen(): void {
    if (this.#watches.closed !== undefined) throw this.#closedError();
  }

  #closedError(): Error {
    return this.#watches.closed?.error ?? new StoreError("closed", "the store is closed");
  }

  #futureError(revision: number): StoreError {
    const message = `revision ${revision} is not reached yet, the newest is ${this.#revision}`;
    return new StoreError("future-revision", message, { revision: this.#revision });
  }

  #settle(waiter: RevisionWaiter): RevisionWaiter | undefined {
    waiter.timer.close();
    return this.#waiters.delete(waiter) ? waiter : undefined;
  }
}

function bytesBefore({ previous }: StoreEvent): number {
  return previous === undefined ? 0 : previous.value.byteLength;
}

function rangeOf(prefix: string, after: string | undefined): KeyRange {
  const start = after !== undefined && compareKeys(after, prefix) >= 0 ? { after } : { from: prefix };
  return { ...start, to: prefixEnd(prefix) };
}
