import { type Clock, systemClock, type Timer } from "../lib/clock.ts";
import type { Snapshots } from "./snapshots.ts";

const checksPerPeriod = 10;
const longestTimerMs = 2 ** 31 - 1;

/** How much history an engine keeps before it compacts by itself. */
export interface HistoryOptions {
  /** At least so long, unless there are too many events or bytes. Default: 5 minutes. */
  readonly historyMs?: number;
  /** More events than this are never kept for long. Default: 200,000. */
  readonly maxEvents?: number;
  /** More bytes of values that are no longer current than this are never kept for long. Default: 256 MiB. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
}

/** What is kept unless an engine is told otherwise. */
export const historyDefaults = { historyMs: 5 * 60_000, maxEvents: 200_000, maxBytes: 256 * 1024 * 1024 } as const;

/** Decides when an engine compacts. Its timer does not keep the process alive. */
export class HistoryLimit {
  readonly #snapshots: Snapshots;
  readonly #compact: (revision: number) => void;
  readonly #historyMs: number;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #timer: Timer;
  /** Which revision was the newest at which time, oldest first. */
  #marks: { readonly atMs: number; readonly revision: number }[] = [];

  constructor(snapshots: Snapshots, compact: (revision: number) => void, options: HistoryOptions = {}) {
    this.#snapshots = snapshots;
    this.#compact = compact;
    this.#historyMs = options.historyMs ?? historyDefaults.historyMs;
    this.#maxEvents = options.maxEvents ?? historyDefaults.maxEvents;
    this.#maxBytes = options.maxBytes ?? historyDefaults.maxBytes;
    this.#clock = options.clock ?? systemClock;
    const periodMs = Math.min(Math.max(1, this.#historyMs / checksPerPeriod), longestTimerMs);
    this.#timer = this.#clock.setInterval(periodMs, () => this.checkAge()).unref();
    this.checkAge();
  }

  /** To be called after each change; compacts to three quarters when there are too many events or bytes. */
  checkSize(): void {
    const { eventCount, historyBytes } = this.#snapshots;
    if (eventCount > this.#maxEvents) this.#compact(this.#snapshots.revisionToKeep(Math.ceil(this.#maxEvents * 0.75)));
    if (historyBytes > this.#maxBytes) this.#compact(this.#snapshots.revisionToKeepBytes(this.#maxBytes * 0.75));
  }

  /** Compacts to what was the newest revision `historyMs` ago. The timer calls this. */
  checkAge(): void {
    const nowMs = this.#clock.now();
    this.#marks.push({ atMs: nowMs, revision: this.#snapshots.revision });
    const old = this.#marks.filter((mark) => mark.atMs <= nowMs - this.#historyMs);
    const newest = old.at(-1);
    if (newest === undefined) return;
    this.#marks = this.#marks.slice(old.length);
    if (newest.revision > this.#snapshots.oldestRevision) this.#compact(newest.revision);
  }

  /** Stops the timer. */
  close(): void {
    this.#timer.close();
  }
}
