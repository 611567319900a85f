import type { Clock } from "../../../base/util/clock.ts";

/** Options of `followPersistently`. */
export interface Following {
  readonly clock: Pick<Clock, "sleep">;
  /** Receives errors. The run is retried. */
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;

/** Runs a watch, such as that of a StoredIndex, until the signal aborts. Restarts it when it fails. */
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
