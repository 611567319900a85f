/** Returns a function that reports whether it was already called with the same value. */
export function seenBefore<T>(): (value: T) => boolean {
  const seen = new Set<T>();
  return (value) => {
    const { size } = seen;
    return seen.add(value).size === size;
  };
}
