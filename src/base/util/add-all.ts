/**
 * Appends all items of the lists. `list.push(...items)` passes every item as an argument and throws a RangeError at
 * about 120,000 items.
 */
export function addAll<T>(list: T[], ...lists: readonly Iterable<T>[]): void {
  for (const items of lists) for (const item of items) list.push(item);
}
