/** A function that tells of each value it is given whether it has been given that before. */
export function seenBefore<T>(): (value: T) => boolean {
  const seen = new Set<T>();
  return (value) => {
    const { size } = seen;
    return seen.add(value).size === size;
  };
}
