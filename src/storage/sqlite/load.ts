import { addAll } from "../../base/util/add-all.ts";
import { Snapshots } from "../snapshots.ts";
import type { Entry, StoreEvent } from "../store.ts";
import type { DatabaseThread } from "./database-thread.ts";
import { type ChangeRow, unpackRows } from "./messages.ts";

/** Contents of a file: the state with its history, expiring values, and rows that an interrupted trim left behind. */
export interface LoadedState {
  readonly snapshots: Snapshots;
  readonly expiring: readonly { readonly key: string; readonly modRevision: number; readonly atMs: number }[];
  readonly garbage: readonly number[];
}

/** Reads the whole file in batches. Rows before `compacted` only form the state; later rows are history as well. */
export async function loadState(thread: DatabaseThread, compacted: number): Promise<LoadedState> {
  const base = new Map<string, Entry>();
  const garbage: number[] = [];
  const expiring: { key: string; modRevision: number; atMs: number }[] = [];
  let snapshots: Snapshots | undefined;
  const finishBase = (): Snapshots => {
    const start = new Snapshots({ revision: Math.max(0, compacted - 1), entries: base.values() });
    base.clear();
    return start;
  };
  let next = thread.request("read", { after: 0 });
  for (;;) {
    const rows = unpackRows(await next);
    const last = rows.at(-1);
    if (last === undefined) break;
    // The thread reads the next rows while these are processed.
    next = thread.request("read", { after: last.revision });
    const events: StoreEvent[] = [];
    for (const row of rows) {
      if (row.expiresAtMs !== null) expiring.push({ key: row.key, modRevision: row.revision, atMs: row.expiresAtMs });
      if (row.revision < compacted) addAll(garbage, applyToBase(base, row));
      else events.push({ revision: row.revision, key: row.key, entry: entryOf(row), previous: undefined });
    }
    if (events.length === 0) continue;
    snapshots ??= finishBase();
    snapshots.apply(events);
  }
  snapshots ??= finishBase();
  // A store that was never written to is at revision 1.
  snapshots.advance(Math.max(1, compacted));
  snapshots.compact(compacted);
  return { snapshots, expiring, garbage };
}

/**
 * Applies a row. Returns the revisions of rows no longer needed: the one it supersedes, and itself if it is a delete.
 */
function applyToBase(base: Map<string, Entry>, row: ChangeRow): number[] {
  const previous = base.get(row.key);
  const entry = entryOf(row);
  const superseded = previous === undefined ? [] : [previous.modRevision];
  if (entry !== undefined) {
    base.set(row.key, entry);
    return superseded;
  }
  base.delete(row.key);
  return [...superseded, row.revision];
}

function entryOf(row: ChangeRow): Entry | undefined {
  if (row.value === null) return undefined;
  // A copy, because the view would keep the whole batch in memory.
  const value = row.value.slice();
  return { key: row.key, value, createRevision: row.createRevision, modRevision: row.revision };
}
