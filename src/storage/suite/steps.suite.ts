import assert from "node:assert/strict";
import {
  type Entry,
  type Page,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreEvent,
  type WatchBatch,
} from "../store.ts";

/** The name of a test, and a function that uses only keys under `prefix` of the store. */
export type StoreTest = readonly [name: string, run: (store: Store, prefix: string) => Promise<void>];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** UTF-8 bytes of a text, for tests. */
export function bytes(value: string): Uint8Array {
  return encoder.encode(value);
}

/** The text of UTF-8 bytes; undefined stays undefined. */
export function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : decoder.decode(value);
}

/** The keys of a page, in order. */
export function keysOf(page: Page): string[] {
  return page.entries.map((entry) => entry.key);
}

/** Creates a key that must not exist and returns the revision. */
export function create(store: Store, key: string, value: string): Promise<number> {
  return update(store, key, value, 0);
}

/** Writes a key whose modRevision must be `expected` and returns the new revision. */
export async function update(store: Store, key: string, value: string, expected: number): Promise<number> {
  const result = await store.put(key, bytes(value), expected);
  assert.ok(result.ok, `put of ${key} was rejected`);
  return result.revision;
}

/** Deletes a key whose modRevision must be `expected` and returns the revision of the delete. */
export async function remove(store: Store, key: string, expected: number): Promise<number> {
  const result = await store.delete(key, expected);
  assert.ok(result.ok, `delete of ${key} was rejected`);
  return result.revision;
}

/** Watches until `count` events have arrived and returns them all; fails if that takes longer than `timeoutMs`. */
export async function collect(
  store: Pick<Store, "watch">,
  prefix: string,
  revision: number,
  options: { readonly count: number; readonly timeoutMs?: number },
): Promise<StoreEvent[]> {
  const { count, timeoutMs = 10_000 } = options;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const events: StoreEvent[] = [];
  try {
    for await (const batch of store.watch(prefix, revision, abort.signal)) {
      events.push(...batch.events);
      if (events.length >= count) break;
    }
  } finally {
    clearTimeout(timer);
  }
  assert.equal(events.length, count, `events of ${prefix} after ${revision}`);
  return events;
}

/** Reads a watch on demand. */
export class WatchReader {
  readonly #batches: AsyncIterator<WatchBatch>;
  readonly #abort = new AbortController();
  readonly #held: StoreEvent[] = [];

  constructor(store: Pick<Store, "watch">, prefix: string, revision: number) {
    this.#batches = store.watch(prefix, revision, this.#abort.signal)[Symbol.asyncIterator]();
  }

  /** Resolves to the next `count` events once they have arrived. */
  async take(count: number): Promise<StoreEvent[]> {
    while (this.#held.length < count) {
      const { value, done } = await this.#batches.next();
      assert.ok(!done, "the watch ended");
      this.#held.push(...value.events);
    }
    return this.#held.splice(0, count);
  }

  /** Resolves when the watch has ended; fails if there is an event before. */
  async ended(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#batches.next();
      if (done) return;
      assert.deepEqual(value.events, []);
    }
  }

  /** Aborts the watch and waits for its end. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended();
  }
}

/** Returns the StoreError that the action fails with, which must have this code. */
export async function rejectsWith(code: StoreErrorCode, action: () => Promise<unknown>): Promise<StoreError> {
  let caught: unknown;
  try {
    await action();
  } catch (error) {
    caught = error;
  }
  assert.ok(caught instanceof StoreError, `expected StoreError "${code}", got ${String(caught)}`);
  assert.equal(caught.code, code);
  return caught;
}

/** An entry in a form that is readable in test reports. */
export function plain(entry: Entry | undefined): object | undefined {
  if (entry === undefined) return undefined;
  const { key, value, createRevision, modRevision } = entry;
  return { key, value: text(value), createRevision, modRevision };
}
