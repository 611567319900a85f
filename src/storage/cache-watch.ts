import type { CacheFeed } from "./cache-feed.ts";
import type { Store, StoreWatch, WatchBatch, WatchInterest } from "./store.ts";

/** The parameters of `Store.watch`. */
export interface WatchedPrefix {
  readonly prefix: string;
  readonly revision: number;
  readonly signal: AbortSignal;
  readonly interest: WatchInterest | undefined;
}

/**
 * A watch that begins before the history in memory. It reads the remote's history until the cache has all later events,
 * and continues in memory from there. Throws StoreError "compacted" if the remote has compacted its start revision.
 */
export class CacheWatch implements StoreWatch {
  readonly #feed: CacheFeed;
  readonly #remote: Store;
  readonly #watched: WatchedPrefix;
  /** The last revision yielded, and the last one that the reader has finished with. */
  #given: number;
  #consumed: number;
  #local: StoreWatch | undefined;

  constructor(feed: CacheFeed, remote: Store, watched: WatchedPrefix) {
    this.#feed = feed;
    this.#remote = remote;
    this.#watched = watched;
    this.#given = watched.revision;
    this.#consumed = watched.revision;
  }

  progress(): number {
    return Math.max(this.#consumed, this.#local?.progress() ?? 0);
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchBatch, undefined> {
    const stop = new AbortController();
    const batches = this.#read(AbortSignal.any([this.#watched.signal, stop.signal]));
    return {
      next: () => batches.next(),
      return: () => {
        // A generator that is awaiting would only see `return` after its next batch.
        stop.abort();
        return batches.return(undefined);
      },
    };
  }

  async *#read(signal: AbortSignal): AsyncGenerator<WatchBatch, undefined> {
    const { prefix, interest } = this.#watched;
    if (this.#feed.snapshotsFrom(this.#given) === undefined) yield* this.#catchUp(signal);
    const snapshots = this.#feed.snapshotsFrom(this.#given);
    if (signal.aborted || this.#feed.closed.aborted || snapshots === undefined) return;
    this.#local = snapshots.watch(prefix, this.#given, signal, interest);
    yield* this.#local;
  }

  async *#catchUp(signal: AbortSignal): AsyncGenerator<WatchBatch> {
    const { prefix } = this.#watched;
    // Without progress reports, a prefix without writes would never be known to have caught up.
    const stopAsking = this.#feed.askForProgress();
    try {
      for await (const batch of this.#remote.watch(prefix, this.#given, signal)) {
        this.#given = batch.revision;
        yield batch;
        this.#consumed = this.#given;
        if (this.#feed.snapshotsFrom(this.#given) !== undefined) return;
      }
    } finally {
      stopAsking();
    }
  }
}
