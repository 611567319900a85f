import type { Entry } from "../../storage/store.ts";

/**
 * What was read of entries, for as long as they live. Only for what depends on nothing but the entry, and is never changed:
 * control planes that were forked from each other share their entries, and so what is read of them.
 */
export class EntryReadings<Item extends object> {
  readonly #known = new WeakMap<Entry, Item>();

  /** What was read before, or is read now. Of what cannot be read nothing is kept. */
  of<Read extends Item | undefined>(entry: Entry, read: (entry: Entry) => Read): Item | Read {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const item = read(entry);
    if (item !== undefined) this.#known.set(entry, item);
    return item;
  }
}
