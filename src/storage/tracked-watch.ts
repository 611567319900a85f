import type { StoreWatch, WatchBatch } from "./store.ts";

/** A StoreWatch over `batches`. Its progress is the revision of the last batch before the latest `next()`. */
export function trackProgress(batches: AsyncGenerator<WatchBatch>, revision: number): StoreWatch {
  let given = revision;
  let consumed = revision;
  return {
    progress: () => consumed,
    [Symbol.asyncIterator]: () => ({
      async next() {
        consumed = given;
        const result = await batches.next();
        if (!result.done) given = Math.max(given, result.value.revision);
        return result;
      },
      return: () => batches.return(undefined),
    }),
  };
}
