import type { Clock } from "../../lib/clock.ts";

/** How something is followed. */
export interface Following {
  readonly clock: Pick<Clock, "sleep">;
  /** Hears why it could not be followed for a while. */
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;

/** Runs what follows the store, such as a StoredIndex, until the signal aborts, and again when it fails. */
export async function followPersistently(
  run: (signal: AbortSignal) => Promise<void>,
  { clock, report, signal }: Following,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await run(signal);
    } catch (error) {
      if (signal.aborted) return;
      report(error);
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
