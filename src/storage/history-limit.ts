import { type Clock, systemClock, type Timer } from "../base/util/clock.ts";
import type { Snapshots } from "./snapshots.ts";

const checksPerPeriod = 10;
const longestTimerMs = 2 ** 31 - 1;

/** How much history a store keeps before it compacts itself. */
export interface HistoryOptions {
  /** Minimum age of compacted history, unless `maxEvents` or `maxBytes` is exceeded. Default: 5 minutes. */
  readonly historyMs?: number;
  /** Compacts when there are more events than this. Default: 200,000. */
  readonly maxEvents?: number;
  /** Compacts when values that are no longer current take more bytes than this. Default: 256 MiB. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
}

/** Defaults of HistoryOptions. */
export const historyDefaults = { historyMs: 5 * 60_000, maxEvents: 200_000, maxBytes: 256 * 1024 * 1024 } as const;

/** Decides when a store compacts. Its timer does not keep the process alive. */
export class HistoryLimit {
  readonly #snapshots: Snapshots;
  readonly #compact: (revision: number) => void;
  readonly #historyMs: number;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #timer: Timer;
  /** The newest revision at several times, oldest first. */
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

  /** Call after each change. Compacts to three quarters of a limit that is exceeded. */
  checkSize(): void {
    const { eventCount, historyBytes } = this.#snapshots;
    if (eventCount > this.#maxEvents) this.#compact(this.#snapshots.revisionToKeep(Math.ceil(this.#maxEvents * 0.75)));
    if (historyBytes > this.#maxBytes) this.#compact(this.#snapshots.revisionToKeepBytes(this.#maxBytes * 0.75));
  }

  /** Compacts to the revision that was the newest `historyMs` ago. Called by the timer. */
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
