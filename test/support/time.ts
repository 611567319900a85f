import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for a condition, how often to check it, and what to call it in the error. */
export interface Patience {
  /**
   * Default: 5 min, so that only a test that is really stuck fails, on any machine. A test that passes does not wait.
   */
  readonly withinMs?: number;
  /** Default: 5 ms. */
  readonly everyMs?: number;
  readonly what?: string | (() => string);
}

/**
 * Resolves to the first result that is neither undefined nor false; fails on timeout. There is no helper that waits for
 * nothing to happen: trigger something that must come next, and check that it does.
 */
export async function eventually<Result>(
  probe: () => Result | undefined | false | Promise<Result | undefined | false>,
  patience: Patience = {},
): Promise<Result> {
  const { withinMs = 300_000, everyMs = 5, what = () => `${probe}` } = patience;
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const result = await probe();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > deadlineMs)
      throw new Error(`not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    await sleep(everyMs);
  }
}
