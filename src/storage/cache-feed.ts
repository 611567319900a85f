import { type Clock, systemClock, type Timer } from "../base/util/clock.ts";
import type { CompactedStore } from "./compactor.ts";
import { HistoryLimit, type HistoryOptions } from "./history-limit.ts";
import { Snapshots } from "./snapshots.ts";
import { type Entry, type Store, StoreError, type WatchBatch } from "./store.ts";

/** A remote store that sends its watchers an empty batch with its current revision on request. */
export interface ProgressSource {
  requestProgress(): void;
}

/** A remote store that knows the revision it was compacted to; 0 means it was never compacted. */
export interface CompactionSource {
  compactedRevision(): Promise<number>;
}

/** A remote store that has a cheaper kind of watch, whose events have no `previous`. */
export interface FeedSource {
  feed(prefix: string, revision: number, signal: AbortSignal): AsyncIterable<WatchBatch>;
}

/** A store behind a cache, with optional abilities that make the cache cheaper or fresher. */
export type RemoteStore = Store & Partial<ProgressSource & CompactionSource & FeedSource & CompactedStore>;

/** Which keys a CacheFeed keeps in memory, and how it loads them. */
export interface CacheFeedOptions extends HistoryOptions {
  /** All keys with this prefix are held in memory. */
  readonly prefix: string;
  /** Entries per request while loading. Default: as many as fit into a page of about 2 MiB. */
  readonly pageEntries?: number;
  /** How often the remote's compacted revision is polled, if the remote reports it. Default: 15 s. */
  readonly compactionPollMs?: number;
  /** Called with the key of every change that the remote reports. */
  readonly eventReceived?: (key: string) => void;
  /** Called after each load with its duration. */
  readonly loaded?: (seconds: number) => void;
}

const RETRY_PAUSE_MS = 250;
const FIRST_QUESTION_MS = 5;
const QUESTION_INTERVAL_MS = 100;
const COMPACTION_POLL_MS = 15_000;
const FIRST_PAGE_ENTRIES = 1000;
// Small enough that the allocator gives the memory of a page back to the system.
const PAGE_BYTES = 2 * 1024 * 1024;
const MAX_PAGE_ENTRIES = 10_000;

/**
 * Keeps a Snapshots equal to one prefix of a remote store: loads it once, then follows one watch. If the remote has
 * compacted the revision to resume from, everything is reloaded, and watches of the old Snapshots get "compacted".
 */
export class CacheFeed {
  /** Resolves when the first load is done; rejects if the cache is closed before that. */
  readonly ready: Promise<void>;
  readonly #remote: RemoteStore;
  readonly #options: CacheFeedOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #firstLoad = Promise.withResolvers<void>();
  #current: { readonly snapshots: Snapshots; readonly history: HistoryLimit } | undefined;
  /** Returns the revision the watch has reached, if the remote does not send empty batches. */
  #progress: (() => number) | undefined;
  #compacted = 0;
  #waiting = 0;
  #asking: Timer | undefined;
  readonly #polling: Timer;

  constructor(remote: RemoteStore, options: CacheFeedOptions) {
    this.#remote = remote;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.ready = this.#firstLoad.promise;
    this.ready.catch(() => undefined);
    const pollMs = options.compactionPollMs ?? COMPACTION_POLL_MS;
    this.#polling = this.#clock.setInterval(pollMs, () => void this.#pollCompaction()).unref();
    void this.#run();
  }

  /** True once reads can be answered. */
  get isReady(): boolean {
    return this.#current !== undefined && !this.#closing.signal.aborted;
  }

  /** Aborts when the cache is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** The current state. Undefined until the first load is done and after `close`. */
  get snapshots(): Snapshots | undefined {
    return this.#closing.signal.aborted ? undefined : this.#current?.snapshots;
  }

  /**
   * The current state, if its history reaches back to `revision`; undefined otherwise. It may not have reached
   * `revision`.
   */
  snapshotsFrom(revision: number): Snapshots | undefined {
    const snapshots = this.#current?.snapshots;
    if (snapshots === undefined || revision < Math.max(snapshots.oldestRevision, this.#compacted)) return undefined;
    return snapshots;
  }

  /** The state, if it has reached `revision` already. */
  held(revision: number): Snapshots | undefined {
    const snapshots = this.#current?.snapshots;
    return snapshots === undefined || snapshots.revision < revision || this.closed.aborted ? undefined : snapshots;
  }

  /** Resolves to the state once it has reached `revision`. Throws StoreError "future-revision" after `timeoutMs`. */
  async reach(revision: number, timeoutMs: number): Promise<Snapshots> {
    const held = this.held(revision);
    if (held !== undefined) return held;
    const deadlineMs = this.#clock.monotonic() + timeoutMs;
    if (this.#current === undefined) await this.#loaded(timeoutMs);
    for (;;) {
      const snapshots = this.#current?.snapshots;
      if (snapshots === undefined || this.closed.aborted) throw new StoreError("closed", "the store is closed");
      if (snapshots.revision >= revision) return snapshots;
      this.#pullProgress();
      const stopAsking = this.askForProgress();
      try {
        await snapshots.waitFor(revision, Math.max(1, deadlineMs - this.#clock.monotonic()));
        return snapshots;
      } catch (error) {
        // Reloaded in the meantime: wait for the revision in the new state.
        if (this.#current?.snapshots === snapshots) throw error;
      } finally {
        stopAsking();
      }
    }
  }

  /** Requests progress from the remote repeatedly until the returned function is called. */
  askForProgress(): () => void {
    this.#waiting++;
    this.#asking ??= this.#clock.setTimer(FIRST_QUESTION_MS, () => this.#ask());
    let isDone = false;
    return () => {
      if (!isDone) this.#waiting--;
      isDone = true;
    };
  }

  /** Records that the remote was compacted to `revision`. */
  noteCompaction(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    this.#compactSnapshots();
  }

  /** Ends all watches without an error and stops following the remote. */
  close(): void {
    this.#closing.abort();
    this.#polling.close();
    this.#asking?.close();
    this.#current?.history.close();
    this.#current?.snapshots.close();
    this.#firstLoad.reject(new StoreError("closed", "the store is closed"));
  }

  async #run(): Promise<void> {
    while (!this.closed.aborted) {
      try {
        const startMs = this.#clock.monotonic();
        this.#replace(await this.#load());
        this.#options.loaded?.((this.#clock.monotonic() - startMs) / 1000);
        await this.#follow();
      } catch {
        // The remote is not available; calls that need it report the error themselves.
      }
      await this.#clock.sleep(RETRY_PAUSE_MS, this.closed);
    }
  }

  async #load(): Promise<Snapshots> {
    const { prefix, pageEntries } = this.#options;
    const entries: Entry[] = [];
    let limit = pageEntries ?? FIRST_PAGE_ENTRIES;
    let page = await this.#remote.list(prefix, { limit });
    const { revision } = page;
    for (;;) {
      for (const entry of page.entries) entries.push(entry);
      const last = page.entries.at(-1);
      const isComplete = page.remaining === 0 || last === undefined;
      if (isComplete) return new Snapshots({ revision, entries, clock: this.#clock });
      limit = pageEntries ?? nextPageEntries(page.entries);
      page = await this.#remote.list(prefix, { limit, revision, after: last.key });
    }
  }

  #replace(snapshots: Snapshots): void {
    if (this.closed.aborted) return;
    const previous = this.#current;
    const compact = (revision: number): void => void snapshots.compact(revision);
    this.#current = { snapshots, history: new HistoryLimit(snapshots, compact, this.#options) };
    this.#firstLoad.resolve();
    previous?.history.close();
    const message = `the cache was reloaded at revision ${snapshots.revision}`;
    previous?.snapshots.close(new StoreError("compacted", message, { revision: snapshots.revision }));
  }

  /** Returns when everything has to be reloaded. */
  async #follow(): Promise<void> {
    while (!this.closed.aborted && this.#current !== undefined) {
      const { snapshots } = this.#current;
      try {
        const watch = this.#watch(snapshots.revision);
        this.#progress = progressOf(watch);
        for await (const batch of watch) this.#apply(batch);
      } catch (error) {
        if (!(error instanceof StoreError) || error.code === "compacted") return;
      }
      this.#progress = undefined;
      // The remote resumes lost watches itself, so this is another error, possibly a transient one.
      await this.#clock.sleep(RETRY_PAUSE_MS, this.closed);
    }
  }

  #watch(revision: number): AsyncIterable<WatchBatch> {
    const { prefix } = this.#options;
    const remote = this.#remote;
    return remote.feed?.(prefix, revision, this.closed) ?? remote.watch(prefix, revision, this.closed);
  }

  #apply(batch: WatchBatch): void {
    if (this.#current === undefined) return;
    const { eventReceived } = this.#options;
    if (eventReceived !== undefined) for (const { key } of batch.events) eventReceived(key);
    this.#current.snapshots.apply(batch.events, batch.revision);
    this.#current.history.checkSize();
    this.#compactSnapshots();
  }

  #compactSnapshots(): void {
    const snapshots = this.#current?.snapshots;
    if (snapshots !== undefined && snapshots.oldestRevision < this.#compacted) {
      snapshots.compact(Math.min(this.#compacted, snapshots.revision));
    }
  }

  #pullProgress(): void {
    const revision = this.#progress?.();
    if (revision !== undefined) this.#current?.snapshots.advance(revision);
  }

  #ask(): void {
    this.#asking = undefined;
    if (this.#waiting === 0 || this.closed.aborted) return;
    this.#remote.requestProgress?.();
    this.#pullProgress();
    this.#asking = this.#clock.setTimer(QUESTION_INTERVAL_MS, () => this.#ask());
  }

  async #loaded(timeoutMs: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    const error = new StoreError("unavailable", "the cache is still loading");
    const timer = this.#clock.setTimer(timeoutMs, () => late.reject(error));
    await Promise.race([this.ready, late.promise]).finally(() => timer.close());
  }

  async #pollCompaction(): Promise<void> {
    try {
      this.noteCompaction((await this.#remote.compactedRevision?.()) ?? 0);
    } catch {
      // Retried at the next poll. Until then slightly more history is served than the remote keeps.
    }
  }
}

/** Returns the `progress` method of an in-memory watch; undefined for other watches, which send progress in batches. */
function progressOf(watch: AsyncIterable<WatchBatch>): (() => number) | undefined {
  if (!("progress" in watch) || typeof watch.progress !== "function") return undefined;
  const { progress } = watch;
  return () => Number(progress.call(watch));
}

/** How many entries make up about one page, judged by the average size of `entries`. */
function nextPageEntries(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const { value } of entries) bytes += value.length;
  return Math.min(MAX_PAGE_ENTRIES, Math.ceil((PAGE_BYTES * entries.length) / Math.max(1, bytes)));
}
