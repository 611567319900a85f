/** Limits of a cache. */
export interface MemoBounds {
  /** Maximum number of results. When it is exceeded, all are dropped. */
  readonly results: number;
  /**
   * Maximum length of a cached key, so that clients cannot fill the memory with long texts. Default 0: strings are not
   * cached.
   */
  readonly textLength?: number;
}

/** A bounded cache of results by string or number. */
export class BoundedMemo<Key extends string | number, Result extends {}> {
  readonly #bounds: MemoBounds;
  readonly #known = new Map<Key, Result>();

  constructor(bounds: MemoBounds) {
    this.#bounds = bounds;
  }

  get(key: Key): Result | undefined {
    return this.#known.get(key);
  }

  set(key: Key, result: Result): void {
    const { results, textLength = 0 } = this.#bounds;
    if (typeof key === "string" && key.length > textLength) return;
    if (this.#known.size >= results) this.#known.clear();
    this.#known.set(key, result);
  }
}

/** Caches the results of a function by string or number. All callers share the results. Errors are not cached. */
export function memoize<Key extends string | number, Result extends {}>(
  make: (key: Key) => Result,
  bounds: MemoBounds,
): (key: Key) => Result {
  const known = new BoundedMemo<Key, Result>(bounds);
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
