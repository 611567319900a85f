import { type Clock, systemClock } from "../base/util/clock.ts";
import { CacheFeed, type CacheFeedOptions, type RemoteStore } from "./cache-feed.ts";
import { CacheWatch } from "./cache-watch.ts";
import { Compactor } from "./compactor.ts";
import { RevisionProbe } from "./revision-probe.ts";
import type { Snapshots } from "./snapshots.ts";
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

/** Receives measurements of a cache. */
export interface CacheObserver {
  readonly clock: Pick<Clock, "monotonic">;
  /** A consistent read waited for the cache. `isFallback`: the wait timed out and the read goes to the remote. */
  consistentRead(key: string, waitSeconds: number, isFallback: boolean): void;
}

/** What to cache, how much history to keep, and how long a read may wait for the cache. */
export interface CachedStoreOptions extends CacheFeedOptions {
  /** How long a read waits for the cache to reach the revision it needs. Default: 3 s. */
  readonly freshnessMs?: number;
  /** How often the remote is compacted, taking turns with other servers, if it supports that. 0 or omitted: never. */
  readonly compactionIntervalMs?: number;
  readonly observer?: CacheObserver;
}

/**
 * A store in front of a remote store that serves reads and watches of one prefix from memory. Reads still see every
 * write acknowledged before them, by any server: each gets the remote's revision (one request serves concurrent reads)
 * and waits until the remote's watch has brought the cache there. Only that watch changes the cache.
 */
export class CachedStore implements Store {
  readonly #remote: RemoteStore;
  readonly #prefix: string;
  readonly #freshnessMs: number;
  readonly #feed: CacheFeed;
  readonly #probe: RevisionProbe;
  readonly #compactor: Compactor | undefined;
  readonly #observer: CacheObserver | undefined;

  /** Takes ownership of the remote store: `close` closes it too. Loading starts at once. */
  constructor(remote: RemoteStore, options: CachedStoreOptions) {
    this.#remote = remote;
    this.#prefix = options.prefix;
    this.#freshnessMs = options.freshnessMs ?? 3000;
    this.#feed = new CacheFeed(remote, options);
    this.#probe = new RevisionProbe(() => remote.revision(), options.clock ?? systemClock);
    this.#compactor = this.#startCompactor(options);
    this.#observer = options.observer;
  }

  /** Resolves when the cache is loaded; rejects if it is closed before that. Reads wait for it for a limited time. */
  get ready(): Promise<void> {
    return this.#feed.ready;
  }

  /** True once the cache is loaded. */
  get isReady(): boolean {
    return this.#feed.isReady;
  }

  onOutage(listener: (error: unknown) => void): void {
    this.#remote.onOutage?.(listener);
  }

  snapshot(prefix: string): Snapshot | undefined {
    return prefix.startsWith(this.#prefix) ? this.#feed.snapshots : undefined;
  }

  async get(key: string, options: GetOptions = {}): Promise<Entry | undefined> {
    this.#requireOpen();
    if (!key.startsWith(this.#prefix)) return this.#remote.get(key, options);
    const snapshots = await this.#snapshots(key, options.minRevision);
    return snapshots === undefined ? this.#remote.get(key) : snapshots.get(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#requireOpen();
    if (!prefix.startsWith(this.#prefix)) return this.#remote.list(prefix, options);
    const { revision, minRevision } = options;
    if (revision !== undefined) await this.#feed.reach(revision, this.#freshnessMs);
    const snapshots =
      revision === undefined ? await this.#snapshots(prefix, minRevision) : this.#feed.snapshotsFrom(revision);
    return snapshots === undefined ? this.#remote.list(prefix, options) : snapshots.list(prefix, options);
  }

  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    return this.#remote.put(key, value, expected, options);
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.#remote.delete(key, expected);
  }

  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    this.#requireOpen();
    if (!prefix.startsWith(this.#prefix)) return this.#remote.watch(prefix, revision, signal);
    const snapshots = this.#feed.snapshotsFrom(revision);
    if (snapshots !== undefined) return snapshots.watch(prefix, revision, signal, interest);
    return new CacheWatch(this.#feed, this.#remote, { prefix, revision, signal, interest });
  }

  async revision(): Promise<number> {
    this.#requireOpen();
    return this.#probe.newest();
  }

  async compact(revision: number): Promise<void> {
    await this.#remote.compact(revision);
    this.#feed.noteCompaction(revision);
  }

  async close(): Promise<void> {
    this.#compactor?.close();
    this.#feed.close();
    await this.#remote.close();
  }

  /**
   * A state at least as new as `minRevision`; if that is omitted, as new as every acknowledged write. Undefined if the
   * cache does not get there in time in the latter case: read from the remote instead.
   */
  async #snapshots(key: string, minRevision: number | undefined): Promise<Snapshots | undefined> {
    if (minRevision !== undefined)
      return this.#feed.held(minRevision) ?? this.#feed.reach(minRevision, this.#freshnessMs);
    const observer = this.#observer;
    const newest = await this.#probe.newest();
    const startMs = observer?.clock.monotonic() ?? 0;
    let snapshots: Snapshots | undefined;
    try {
      snapshots = this.#feed.held(newest) ?? (await this.#feed.reach(newest, this.#freshnessMs));
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "future-revision") throw error;
    }
    const seconds = observer === undefined ? 0 : (observer.clock.monotonic() - startMs) / 1000;
    observer?.consistentRead(key, seconds, snapshots === undefined);
    return snapshots;
  }

  #startCompactor({ compactionIntervalMs: intervalMs = 0, clock }: CachedStoreOptions): Compactor | undefined {
    const { putAtVersion } = this.#remote;
    if (intervalMs <= 0 || putAtVersion === undefined) return undefined;
    const compact = (revision: number) => this.compact(revision);
    // A failed round is retried at the next interval, or another server does it.
    return new Compactor({ putAtVersion: putAtVersion.bind(this.#remote), compact }, { intervalMs, clock });
  }

  #requireOpen(): void {
    if (this.#feed.closed.aborted) throw new StoreError("closed", "the store is closed");
  }
}
