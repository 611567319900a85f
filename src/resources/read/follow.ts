import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, Store, StoreEvent } from "../../storage/store.ts";

/** Sees a part of the store: first what is there, then what happens to it. */
export interface Follower {
  /** An entry that was there at the beginning. */
  found(entry: Entry): void;
  /** Everything that was there at this revision has been found. `progress` tells how far it has been shown from now on. */
  loaded(revision: number, progress: () => number): void;
  /** What happened next, in order and without gaps; all of it is known up to `revision`. */
  changed(events: readonly StoreEvent[], revision: number): void;
}

const PAGE = 500;

/** Shows a follower everything below a prefix until the signal aborts. Throws when the store cannot keep its promise. */
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
  if (!signal.aborted) throw new Error(`the watch of ${prefix} ended`);
}
