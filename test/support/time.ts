import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for something, how often to look, and what to call it when it does not come. */
export interface Patience {
  /** 10 s unless told. */
  readonly withinMs?: number;
  /** 5 ms unless told. */
  readonly everyMs?: number;
  readonly what?: string | (() => string);
}

/**
 * Resolves with the first result that is neither undefined nor false; fails when none comes in time. There is no helper
 * that waits for nothing to happen: let something happen that must come next, and look that it does.
 */
export async function eventually<Result>(
  probe: () => Result | undefined | false | Promise<Result | undefined | false>,
  patience: Patience = {},
): Promise<Result> {
  const { withinMs = 10_000, everyMs = 5, what = () => `${probe}` } = patience;
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const result = await probe();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > deadlineMs)
      throw new Error(`not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    await sleep(everyMs);
  }
}
