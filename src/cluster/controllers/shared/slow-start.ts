/**
 * Calls a function `count` times, in batches of 1, 2, 4 and so on, so that a problem of all calls shows early. Throws the
 * first error after the batch in which it occurs.
 */
export async function slowStart(count: number, call: () => Promise<void>): Promise<void> {
  let remaining = count;
  for (let size = Math.min(remaining, 1); size > 0; size = Math.min(2 * size, remaining)) {
    const results = await Promise.allSettled(Array.from({ length: size }, call));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    remaining -= size;
  }
}
