/** How much may be remembered. */
export interface MemoBounds {
  /** So many results; when there are more, all are forgotten. */
  readonly results: number;
  /** Results of longer texts are not kept: whoever sends such every time must not fill the memory. Common: none is. */
  readonly textLength?: number;
}

/** Results by text or number, as many as the bounds allow. */
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

/**
 * The same function, which remembers what it made of texts or numbers that come again and again. What it makes is shared
 * by all callers. What it throws is not remembered.
 */
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
