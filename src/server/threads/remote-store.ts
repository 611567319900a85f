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

/** What another thread may ask of the store. */
export type SharedStore = Pick<Store, "get" | "list" | "put" | "delete" | "revision">;

/** The names of what it may ask. */
export const STORE_METHODS = ["get", "list", "put", "delete", "revision"] as const;

/** A list is sent in messages of about this size, so that copying them holds nobody up. */
const LIST_BYTES = 1024 * 1024;
const LIST_ENTRIES = 500;

/**
 * The store as another thread asks for it: lists are cut where they get long, with `remaining` telling so, and values are
 * such as a message may carry.
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
 * A store that is in another thread. It has no snapshot: every read is a question. Nobody here watches, compacts or
 * closes it.
 */
export class RemoteStore implements Store {
  readonly isUnwatched = true;
  readonly #shared: SharedStore;

  constructor(shared: SharedStore) {
    this.#shared = shared;
  }

  get(key: string, options?: GetOptions): Promise<Entry | undefined> {
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
    throw new StoreError("unavailable", "a thread for large requests cannot watch");
  }

  async compact(): Promise<void> {
    throw new StoreError("unavailable", "a thread for large requests cannot compact");
  }

  async close(): Promise<void> {}
}
