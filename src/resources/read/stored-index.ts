import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, Store } from "../../storage/store.ts";
import { type Follower, follow } from "./follow.ts";

/** What an index holds and whom it tells. */
export interface StoredIndexOptions<Item, Derived extends Derivation<Item> = Derivation<Item>> {
  readonly store: Store;
  /** Everything below it is in the index. */
  readonly prefix: string;
  /** What is kept of an entry; undefined leaves it out. Called once per version of an entry. */
  readonly read: (entry: Entry) => Item | undefined;
  /** Hears of changes before those that `subscribe` adds. */
  readonly changed?: () => void;
  /** Makes what is derived from the items, anew whenever they are loaded. Shown by `derived`. */
  readonly derive?: () => Derived;
}

/** What is derived from the items of an index, such as another order of them: it is told every change of an item. */
export interface Derivation<Item> {
  /** Undefined: the item was not there before, or is there no more. */
  change(previous: Item | undefined, next: Item | undefined): void;
}

/**
 * What is stored below a prefix, kept up to date by a watch: what client-go calls an informer. It is a moment behind the
 * store; whoever needs a state as new as a certain write waits for the revision of that write. Of a store that cannot be
 * watched it has what was there when somebody last waited.
 */
export class StoredIndex<Item, Derived extends Derivation<Item> = Derivation<Item>> {
  readonly #options: StoredIndexOptions<Item, Derived>;
  readonly #listeners = new Set<() => void>();
  #items: ReadonlyMap<string, Item> = new Map();
  #derived: Derived | undefined;
  /** How far the watch has been read; undefined while there is none. */
  #progress: (() => number) | undefined;
  #loading = Promise.withResolvers<void>();
  /** The versions of the entries in a store that cannot be watched, as last listed. */
  #listed: ReadonlyMap<string, number> = new Map();

  constructor(options: StoredIndexOptions<Item, Derived>) {
    this.#options = options;
    if (options.changed) this.subscribe(options.changed);
  }

  /** By their keys in the store. A map that changes while the index runs. */
  get items(): ReadonlyMap<string, Item> {
    return this.#items;
  }

  /** What `derive` made of the items; undefined until they have been loaded for the first time. */
  get derived(): Derived | undefined {
    return this.#derived;
  }

  /**
   * Follows the store until the signal aborts. Throws when the store cannot keep its promise; it may be called again then,
   * and has the items of the last known state until it has loaded them anew.
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

  /** Resolves when everything that is stored now is in the index. Rejects when the signal aborts before. */
  async loaded(signal: AbortSignal): Promise<void> {
    await this.waitFor(await this.#options.store.revision(), signal);
  }

  /** Resolves when everything up to `revision` is in the index. Rejects when the signal aborts before. */
  async waitFor(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#options.store.isUnwatched) return this.#list();
    // A cache in front of a remote store has to have heard of the revision before its watches can.
    await this.#options.store.get(this.#options.prefix, { minRevision: revision });
    for (;;) {
      signal.throwIfAborted();
      if (this.#progress === undefined) await unlessAborted(this.#loading.promise, signal);
      else if (this.#progress() >= revision) return;
      else await nextTurn();
    }
  }

  /**
   * Calls the listener when the index has been loaded, and after every batch of events, in the order in which they came.
   * Returns how to stop that.
   */
  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Reads what has changed since the last list. */
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
    this.#tell();
  }

  #tell(): void {
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
        this.#tell();
      },
      changed: (events) => {
        for (const { key, entry } of events) {
          if (entry) put(entry);
          else set(key, undefined);
        }
        this.#tell();
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
