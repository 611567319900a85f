/**
 * Runs loops until the signal aborts. When one of them ends, the others are aborted. Throws the first error in their
 * order.
 */
export async function runTogether(
  loops: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const outcomes = await Promise.allSettled(loops.map((run) => run(either).finally(() => ended.abort())));
  const failure = outcomes.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
  if (failure) throw failure.reason;
}
