/**
 * Passes one item after the other to `take`, until it returns false. Retains no item while it waits for the next one. A
 * suspended `for await` keeps its last item alive in V8, which is a whole message for each open stream.
 */
export async function takeEach<Item>(
  items: AsyncIterable<Item>,
  take: (item: Item) => Promise<boolean> | boolean,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    while (await takeNext(iterator, take));
  } finally {
    await iterator.return?.();
  }
}

async function takeNext<Item>(
  iterator: AsyncIterator<Item>,
  take: (item: Item) => Promise<boolean> | boolean,
): Promise<boolean> {
  const { done, value } = await iterator.next();
  return !done && take(value);
}
