import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, Store, StoreEvent } from "../../storage/store.ts";
import { LIGHT_VALUE_BYTES, ownTurn } from "../pace.ts";

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
    for (const entry of page.entries) {
      if (isLarge(entry)) await ownTurn();
      follower.found(entry);
    }
    if (page.remaining === 0) break;
    after = page.entries.at(-1)?.key;
    await nextTurn();
  }
  const watch = store.watch(prefix, revision, signal);
  follower.loaded(revision, () => watch.progress());
  for await (const { events, revision: last } of watch) {
    if (events.some(({ entry }) => isLarge(entry))) await change(follower, events, last);
    else follower.changed(events, last);
  }
  if (!signal.aborted) throw new Error(`watch of ${prefix} ended`);
}

/** Large values are decoded by several followers. Each of them gets a turn of the event loop per value. */
async function change(follower: Follower, events: readonly StoreEvent[], revision: number): Promise<void> {
  let from = 0;
  for (const [at, { entry, revision: next }] of events.entries()) {
    if (!isLarge(entry)) continue;
    if (at > from) follower.changed(events.slice(from, at), next - 1);
    from = at;
    await ownTurn();
  }
  follower.changed(events.slice(from), revision);
}

const isLarge = (entry: Entry | undefined): boolean => entry !== undefined && entry.value.length > LIGHT_VALUE_BYTES;
