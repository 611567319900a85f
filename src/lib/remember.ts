/** How much may be remembered. */
export interface MemoryBounds {
  /** So many results; when there are more, all are forgotten. */
  readonly results: number;
  /** Results of longer texts are not kept: whoever sends such every time must not fill the memory. Common: none is. */
  readonly textLength?: number;
}

/**
 * The same function, which remembers what it made of texts or numbers that come again and again. What it makes is shared
 * by all callers. What it throws is not remembered.
 */
export function remember<Key extends string | number, Result extends {}>(
  make: (key: Key) => Result,
  { results, textLength = 0 }: MemoryBounds,
): (key: Key) => Result {
  const known = new Map<Key, Result>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (typeof key === "string" && key.length > textLength) return made;
    if (known.size >= results) known.clear();
    known.set(key, made);
    return made;
  };
}
