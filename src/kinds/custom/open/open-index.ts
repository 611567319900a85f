import { StoredIndex } from "../../../resources/read/stored-index.ts";
import type { Resources } from "../../../resources/resources.ts";
import { OPEN_RECORDS, type OpenRecord, readRecord, recordPlace, storedRecord } from "./open-record.ts";

/** The records of resources without a definition. They are in the store, so that all its servers share them. */
export class OpenIndex {
  readonly #resources: Resources;
  readonly #index: StoredIndex<OpenRecord>;

  constructor(resources: Resources, changed: () => void) {
    const { store, keys, codec } = resources;
    this.#resources = resources;
    this.#index = new StoredIndex<OpenRecord>({
      store,
      prefix: keys.root + OPEN_RECORDS,
      read: (entry) => {
        try {
          return readRecord(codec.read(entry));
        } catch {
          return undefined;
        }
      },
      changed,
    });
  }

  get all(): Iterable<OpenRecord> {
    return this.#index.items.values();
  }

  get size(): number {
    return this.#index.items.size;
  }

  find(group: string, plural: string): OpenRecord | undefined {
    return this.#index.items.get(this.#resources.keys.root + recordPlace(group, plural));
  }

  /** The record as stored now; resolves once this index includes it. */
  async newest(group: string, plural: string, signal: AbortSignal): Promise<OpenRecord | undefined> {
    const { store, keys } = this.#resources;
    const entry = await store.get(keys.root + recordPlace(group, plural));
    if (entry) await this.#index.waitFor(entry.modRevision, signal);
    return this.find(group, plural);
  }

  /** Writes the result of `change`, unless it is undefined. Resolves when this index includes it. */
  async change(
    group: string,
    plural: string,
    change: (current: OpenRecord | undefined) => OpenRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#resources.access.changeRecord(recordPlace(group, plural), (stored) => {
      const next = change(stored && readRecord(stored));
      return next && storedRecord(next);
    });
    await this.loaded(signal);
  }

  /** Removes a record, and resolves when it is gone from this index, too. */
  async remove({ group, plural }: OpenRecord, signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#resources;
    const key = keys.root + recordPlace(group, plural);
    const entry = await store.get(key);
    if (entry) await store.delete(key, entry.modRevision);
    await this.loaded(signal);
  }

  /** Resolves when the index includes everything that is stored now. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }

  /** Follows the store until the signal aborts. Throws if it cannot. */
  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }
}
