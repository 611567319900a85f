import { type Clock, systemClock } from "../base/util/clock.ts";
import type { Eventually } from "../base/util/eventually.ts";
import { Expiry, type ExpiryNote } from "./expiry.ts";
import { HistoryLimit, type HistoryOptions } from "./history-limit.ts";
import type { OrderedMap } from "./ordered-map.ts";
import { type FrozenState, Snapshots } from "./snapshots.ts";
import {
  type Entry,
  type GetOptions,
  type ListOptions,
  type Page,
  type PutOptions,
  type Snapshot,
  type Store,
  StoreError,
  type StoreWatch,
  type WatchInterest,
  type WriteResult,
} from "./store.ts";
import { requireFitting } from "./value-limit.ts";

const futureWaitMs = 3000;

/** An immutable state of a memory store, which forks start from. Shares all data with the store. */
export interface MemoryState {
  readonly state: FrozenState;
  readonly expiries: OrderedMap<ExpiryNote>;
}

/**
 * A store without persistence. An empty one is at revision 1, so the first write gets 2, as in etcd. Values are not
 * copied: the caller must not change them afterwards.
 */
export class MemoryStore implements Store {
  readonly #snapshots: Snapshots;
  readonly #history: HistoryLimit;
  readonly #expiry: Expiry;
  readonly #clock: Clock;
  #isClosed = false;

  /** With `begin`, a fork: it has the same keys and revisions but no history, and is independent from then on. */
  constructor(options: HistoryOptions & { readonly begin?: MemoryState } = {}) {
    const { begin } = options;
    this.#clock = options.clock ?? systemClock;
    this.#snapshots = begin
      ? Snapshots.from(begin.state, this.#clock)
      : new Snapshots({ revision: 0, clock: this.#clock });
    this.#snapshots.advance(1);
    this.#expiry = new Expiry((expired) => {
      for (const { key, modRevision } of expired) this.#deleteNow(key, modRevision);
    }, this.#clock);
    if (begin) this.#expiry.replace(begin.expiries);
    this.#history = new HistoryLimit(this.#snapshots, (revision) => void this.#snapshots.compact(revision), options);
  }

  /** The current state, for forks. Takes constant time. */
  freeze(): MemoryState {
    return { state: this.#snapshots.freeze(), expiries: this.#expiry.notes() };
  }

  /** The oldest state that can still be read. */
  get oldestRevision(): number {
    return this.#snapshots.oldestRevision;
  }

  snapshot(): Snapshot | undefined {
    return this.#isClosed ? undefined : this.#snapshots;
  }

  get(key: string, { minRevision = 0 }: GetOptions = {}): Eventually<Entry | undefined> {
    this.#requireOpen();
    const snapshots = this.#snapshots;
    if (minRevision <= snapshots.revision) return snapshots.get(key);
    return snapshots.waitFor(minRevision, futureWaitMs).then(() => snapshots.get(key));
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#requireOpen();
    const atLeast = options.revision ?? options.minRevision;
    if (atLeast !== undefined) await this.#snapshots.waitFor(atLeast, futureWaitMs);
    return this.#snapshots.list(prefix, options);
  }

  async put(key: string, value: Uint8Array, expected: number, options: PutOptions = {}): Promise<WriteResult> {
    this.#requireOpen();
    requireFitting(key, value);
    const current = this.#snapshots.get(key);
    if ((current?.modRevision ?? 0) !== expected) return { ok: false, current };
    const revision = this.#snapshots.revision + 1;
    const entry: Entry = { key, value, createRevision: current?.createRevision ?? revision, modRevision: revision };
    this.#snapshots.apply([{ revision, key, entry, previous: current }]);
    if (options.ttlSeconds !== undefined)
      this.#expiry.add(key, revision, this.#clock.now() + options.ttlSeconds * 1000);
    this.#history.checkSize();
    return { ok: true, revision };
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    this.#requireOpen();
    return this.#deleteNow(key, expected);
  }

  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    this.#requireOpen();
    return this.#snapshots.watch(prefix, revision, signal, interest);
  }

  async revision(): Promise<number> {
    this.#requireOpen();
    return this.#snapshots.revision;
  }

  async compact(revision: number): Promise<void> {
    this.#requireOpen();
    this.#snapshots.compact(revision);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#expiry.close();
    this.#history.close();
    this.#snapshots.close();
  }

  #deleteNow(key: string, expected: number): WriteResult {
    const current = this.#snapshots.get(key);
    if (current === undefined || current.modRevision !== expected) return { ok: false, current };
    const revision = this.#snapshots.revision + 1;
    this.#snapshots.apply([{ revision, key, entry: undefined, previous: current }]);
    this.#history.checkSize();
    return { ok: true, revision };
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StoreError("closed", "the store is closed");
  }
}
