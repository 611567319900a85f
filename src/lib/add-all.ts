/**
 * Adds all items of lists to another list. `list.push(...items)` passes every item as an argument, and throws a
 * RangeError once there are about 120,000.
 */
export function addAll<T>(list: T[], ...lists: readonly Iterable<T>[]): void {
  for (const items of lists) for (const item of items) list.push(item);
}
