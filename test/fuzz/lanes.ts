/** Works on all items, so many at a time: the next is begun when one has ended. */
export async function inLanes<T>(
  lanes: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The numbers from 0 on, as long as more are wanted. */
export function* numbersWhile(isWanted: (number: number) => boolean): Generator<number> {
  for (let number = 0; isWanted(number); number += 1) yield number;
}
