/** The most calls at the same time. */
const MAX_BATCH = 500;

/**
 * Calls a function with 0 to `count - 1`, in batches of 1, 2, 4 and so on, so that a problem of all calls shows early.
 * Throws the first error after the batch in which it occurs.
 */
export async function slowStart(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  for (let size = Math.min(count, 1); size > 0; size = Math.min(2 * size, count - next, MAX_BATCH)) {
    const first = next;
    const results = await Promise.allSettled(Array.from({ length: size }, (_, index) => call(first + index)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    next += size;
  }
}
