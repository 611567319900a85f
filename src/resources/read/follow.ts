import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, Store, StoreEvent } from "../../storage/store.ts";

/** Receives the entries below a prefix, then their changes. */
export interface Follower {
  /** Called for each existing entry. */
  found(entry: Entry): void;
  /**
   * Called once all entries at this revision have been found. `progress` returns the revision that has been shown so
   * far.
   */
  loaded(revision: number, progress: () => number): void;
  /** Called with further events, in order and without gaps. All changes up to `revision` are known then. */
  changed(events: readonly StoreEvent[], revision: number): void;
}

const PAGE = 500;

/** Feeds a follower with everything below a prefix until the signal is aborted. Throws if the watch ends before. */
export async function follow(store: Store, prefix: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let revision: number | undefined;
  let after: string | undefined;
  for (;;) {
    if (signal.aborted) return;
    const page = await store.list(prefix, { revision, after, limit: PAGE });
    revision = page.revision;
    for (const entry of page.entries) follower.found(entry);
    if (page.remaining === 0) break;
    after = page.entries.at(-1)?.key;
    await nextTurn();
  }
  const watch = store.watch(prefix, revision, signal);
  follower.loaded(revision, () => watch.progress());
  for await (const batch of watch) follower.changed(batch.events, batch.revision);
  if (!signal.aborted) throw new Error(`watch of ${prefix} ended`);
}
