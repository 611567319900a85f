import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, Store } from "../../storage/store.ts";
import { type Follower, follow } from "./follow.ts";

/** Options of `StoredIndex`. */
export interface StoredIndexOptions<Item, Derived extends Derivation<Item> = Derivation<Item>> {
  readonly store: Store;
  /** Everything below it is indexed. */
  readonly prefix: string;
  /**
   * Reads the item of an entry. Entries for which it returns undefined are left out. Called once per version of an
   * entry.
   */
  readonly read: (entry: Entry) => Item | undefined;
  /** Called after changes, before the listeners of `subscribe`. */
  readonly changed?: () => void;
  /** Creates the derivation of the items, each time they are loaded. Exposed as `derived`. */
  readonly derive?: () => Derived;
}

/** Data derived from the items of an index, such as another order. Receives every change of an item. */
export interface Derivation<Item> {
  /** `previous` is undefined for a new item, `next` for a removed one. */
  change(previous: Item | undefined, next: Item | undefined): void;
}

/**
 * The entries below a prefix, kept up to date by a watch, like an informer of client-go. It lags slightly behind the
 * store; use `waitFor` to see a certain write. For a store that cannot be watched, it contains the state of the last
 * wait.
 */
export class StoredIndex<Item, Derived extends Derivation<Item> = Derivation<Item>> {
  readonly #options: StoredIndexOptions<Item, Derived>;
  readonly #listeners = new Set<() => void>();
  #items: ReadonlyMap<string, Item> = new Map();
  #derived: Derived | undefined;
  /** The revision up to which the watch has been read. Undefined while there is no watch. */
  #progress: (() => number) | undefined;
  #loading = Promise.withResolvers<void>();
  /** Revisions of the last listed entries, for a store that cannot be watched. */
  #listed: ReadonlyMap<string, number> = new Map();

  constructor(options: StoredIndexOptions<Item, Derived>) {
    this.#options = options;
    if (options.changed) this.subscribe(options.changed);
  }

  /** Items by store key. The map changes while the index runs. */
  get items(): ReadonlyMap<string, Item> {
    return this.#items;
  }

  /** The result of `derive`. Undefined until the items have been loaded for the first time. */
  get derived(): Derived | undefined {
    return this.#derived;
  }

  /**
   * Follows the store until the signal is aborted. Throws if the watch ends. It may then be called again; the items
   * keep their last known state until they are reloaded.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { store, prefix } = this.#options;
    try {
      await follow(store, prefix, this.#follower(), signal);
    } finally {
      this.#progress = undefined;
      this.#loading = Promise.withResolvers();
    }
  }

  /** Resolves when everything stored now is indexed. Rejects if the signal is aborted before. */
  async loaded(signal: AbortSignal): Promise<void> {
    await this.waitFor(await this.#options.store.revision(), signal);
  }

  /** Resolves when everything up to `revision` is indexed. Rejects if the signal is aborted before. */
  async waitFor(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#options.store.isUnwatched) return this.#list();
    // A cache in front of a remote store must reach the revision before its watches can.
    await this.#options.store.get(this.#options.prefix, { minRevision: revision });
    for (;;) {
      signal.throwIfAborted();
      if (this.#progress === undefined) await unlessAborted(this.#loading.promise, signal);
      else if (this.#progress() >= revision) return;
      else await nextTurn();
    }
  }

  /**
   * Calls the listener after the index is loaded and after every batch of events, in order. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Lists the store and reads entries that have changed since the last list. */
  async #list(): Promise<void> {
    const { store, prefix, read, derive } = this.#options;
    const { entries } = await store.list(prefix);
    const before = this.#listed;
    const isKnown = ({ key, modRevision }: Entry) => before.get(key) === modRevision;
    if (entries.length === before.size && entries.every(isKnown)) return;
    const items = new Map<string, Item>();
    const derivation = derive?.();
    for (const entry of entries) {
      const item = isKnown(entry) ? this.#items.get(entry.key) : read(entry);
      if (item === undefined) continue;
      derivation?.change(undefined, item);
      items.set(entry.key, item);
    }
    this.#listed = new Map(entries.map(({ key, modRevision }) => [key, modRevision]));
    this.#items = items;
    this.#derived = derivation;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #follower(): Follower {
    const items = new Map<string, Item>();
    const derivation = this.#options.derive?.();
    const set = (key: string, item: Item | undefined) => {
      derivation?.change(items.get(key), item);
      if (item === undefined) items.delete(key);
      else items.set(key, item);
    };
    const put = (entry: Entry) => set(entry.key, this.#options.read(entry));
    return {
      found: put,
      loaded: (_revision, progress) => {
        this.#items = items;
        this.#derived = derivation;
        this.#progress = progress;
        this.#loading.resolve();
        this.#notify();
      },
      changed: (events) => {
        for (const { key, entry } of events) {
          if (entry) put(entry);
          else set(key, undefined);
        }
        this.#notify();
      },
    };
  }
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
