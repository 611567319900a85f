import type { Eventually } from "../../base/util/eventually.ts";
import {
  type Entry,
  type GetOptions,
  type ListOptions,
  type Page,
  type PutOptions,
  type Store,
  StoreError,
  type StoreWatch,
  type WriteResult,
} from "../../storage/store.ts";
import { ownBytes } from "./messages.ts";

/** The store methods that worker threads may call. */
export type SharedStore = Pick<Store, "get" | "list" | "put" | "delete" | "revision">;

/** Names of these methods. */
export const STORE_METHODS = ["get", "list", "put", "delete", "revision"] as const;

/** A list is sent in messages of about this size, so copying does not block the event loop. */
const LIST_BYTES = 1024 * 1024;
const LIST_ENTRIES = 500;

/**
 * The store as offered to worker threads. Long lists are truncated, which `remaining` indicates. Values are copied so a
 * message can carry them.
 */
export function shareStore(store: Store): SharedStore {
  return {
    get: async (key, options) => shareEntry(await store.get(key, options)),
    async list(prefix, options = {}) {
      const limit = Math.min(options.limit || LIST_ENTRIES, LIST_ENTRIES);
      const page = await store.list(prefix, { ...options, limit });
      let bytes = 0;
      const end = page.entries.findIndex(({ value }) => {
        bytes += value.length;
        return bytes > LIST_BYTES;
      });
      const count = end === -1 ? page.entries.length : Math.max(1, end);
      const remaining = page.remaining + page.entries.length - count;
      return { entries: page.entries.slice(0, count).map(toSend), revision: page.revision, remaining };
    },
    put: async (key, value, expected, options) => shareResult(await store.put(key, value, expected, options)),
    delete: async (key, expected) => shareResult(await store.delete(key, expected)),
    revision: () => store.revision(),
  };
}

function shareResult(result: WriteResult): WriteResult {
  return result.ok ? result : { ok: false, current: shareEntry(result.current) };
}

function shareEntry(entry: Entry | undefined): Entry | undefined {
  return entry && toSend(entry);
}

function toSend({ key, value, createRevision, modRevision }: Entry): Entry {
  return { key, value: ownBytes(value), createRevision, modRevision };
}

/**
 * A store in the main thread. It has no snapshot: every read is a message. Watching, compacting and closing are not
 * supported.
 */
export class RemoteStore implements Store {
  readonly isUnwatched = true;
  readonly #shared: SharedStore;

  constructor(shared: SharedStore) {
    this.#shared = shared;
  }

  get(key: string, options?: GetOptions): Eventually<Entry | undefined> {
    return this.#shared.get(key, options);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    const { limit = 0 } = options;
    const entries: Entry[] = [];
    let page = await this.#shared.list(prefix, options);
    const { revision } = page;
    for (;;) {
      for (const entry of page.entries) entries.push(entry);
      const isFull = limit > 0 && entries.length >= limit;
      if (isFull || page.remaining === 0) return { entries, revision, remaining: page.remaining };
      const after = entries.at(-1)?.key;
      page = await this.#shared.list(prefix, { after, revision, limit: limit > 0 ? limit - entries.length : 0 });
    }
  }

  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    return this.#shared.put(key, ownBytes(value), expected, options);
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.#shared.delete(key, expected);
  }

  revision(): Promise<number> {
    return this.#shared.revision();
  }

  watch(): StoreWatch {
    throw new StoreError("unavailable", "watch is not supported in worker threads");
  }

  async compact(): Promise<void> {
    throw new StoreError("unavailable", "compact is not supported in worker threads");
  }

  async close(): Promise<void> {}
}
