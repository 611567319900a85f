import type { Entry } from "../../storage/store.ts";

/**
 * Caches what was read from entries, for the lifetime of each entry. Only for values that depend on nothing but the
 * entry and are immutable: forked control planes share their entries, and therefore these values.
 */
export class EntryReadings<Item extends object> {
  readonly #known = new WeakMap<Entry, Item>();

  /** Returns the cached value, or reads it now. Undefined is not cached. */
  of<Read extends Item | undefined>(entry: Entry, read: (entry: Entry) => Read): Item | Read {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const item = read(entry);
    if (item !== undefined) this.#known.set(entry, item);
    return item;
  }
}
