import { type Clock, systemClock, type Timer } from "../base/util/clock.ts";
import { OrderedMap } from "./ordered-map.ts";

const longestSleepMs = 60_000;
const timeWidth = 16;

/** A value whose TTL has passed. Delete it only if it still has this modRevision. */
export interface Expired {
  readonly key: string;
  readonly modRevision: number;
}

/** A value and the time when it expires. */
export interface ExpiryNote extends Expired {
  readonly atMs: number;
}

/**
 * Reports values when they expire, with one timer that does not keep the process alive. Writing a value again leaves a
 * stale note behind, so each value is reported with its revision.
 */
export class Expiry {
  readonly #expire: (expired: readonly Expired[]) => void;
  readonly #clock: Clock;
  // Ordered by time, because keys start with the time.
  #notes = new OrderedMap<ExpiryNote>();
  #timer: Timer | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(expire: (expired: readonly Expired[]) => void, clock: Clock = systemClock) {
    this.#expire = expire;
    this.#clock = clock;
  }

  /** Records that the value written at `modRevision` expires at `atMs` since the epoch. */
  add(key: string, modRevision: number, atMs: number): void {
    this.#notes.set(`${String(Math.ceil(atMs)).padStart(timeWidth, "0")} ${modRevision} ${key}`, {
      key,
      modRevision,
      atMs,
    });
    this.#schedule();
  }

  /** All recorded values, for `replace`. Takes constant time. */
  notes(): OrderedMap<ExpiryNote> {
    return this.#notes.clone();
  }

  /** Replaces all recorded values. */
  replace(notes: OrderedMap<ExpiryNote>): void {
    this.#notes = notes.clone();
    this.#timer?.close();
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#schedule();
  }

  /** Stops reporting. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.close();
  }

  #schedule(): void {
    const next = this.#notes.values({ limit: 1 })[0];
    if (next === undefined || next.atMs >= this.#wakeAtMs || this.#isClosed) return;
    this.#timer?.close();
    // Sleeps are short because the system clock may be changed while a timer runs.
    const delayMs = Math.min(Math.max(0, next.atMs - this.#clock.now()), longestSleepMs);
    this.#wakeAtMs = next.atMs;
    this.#timer = this.#clock.setTimer(delayMs, () => this.#wake()).unref();
  }

  #wake(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    const until = String(Math.floor(this.#clock.now()) + 1).padStart(timeWidth, "0");
    const expired = this.#notes.values({ to: until });
    for (const { key, modRevision, atMs } of expired) {
      this.#notes.delete(`${String(Math.ceil(atMs)).padStart(timeWidth, "0")} ${modRevision} ${key}`);
    }
    if (expired.length > 0) this.#expire(expired);
    this.#schedule();
  }
}
