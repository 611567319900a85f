import { type Clock, systemClock, type Timer } from "../lib/clock.ts";
import { OrderedMap } from "./ordered-map.ts";

const longestSleepMs = 60_000;
const timeWidth = 16;

/** A value whose time to live is over. It is only to be deleted if it still has this modRevision. */
export interface Expired {
  readonly key: string;
  readonly modRevision: number;
}

/** A value with its time to live. */
export interface ExpiryNote extends Expired {
  readonly atMs: number;
}

/**
 * Knows when values expire and reports them then, all with one timer that does not keep the process alive. A value
 * written again leaves a stale note behind, which is why each is reported together with its revision.
 */
export class Expiry {
  readonly #expire: (expired: readonly Expired[]) => void;
  readonly #clock: Clock;
  // Ordered by time because that comes first in the key.
  #notes = new OrderedMap<ExpiryNote>();
  #timer: Timer | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(expire: (expired: readonly Expired[]) => void, clock: Clock = systemClock) {
    this.#expire = expire;
    this.#clock = clock;
  }

  /** Notes that the value written at `modRevision` expires at `atMs` since the epoch. */
  add(key: string, modRevision: number, atMs: number): void {
    this.#notes.set(`${String(Math.ceil(atMs)).padStart(timeWidth, "0")} ${modRevision} ${key}`, {
      key,
      modRevision,
      atMs,
    });
    this.#schedule();
  }

  /** All that is known, for `replace`. Takes constant time. */
  notes(): OrderedMap<ExpiryNote> {
    return this.#notes.clone();
  }

  /** Knows what is given instead of what was added. */
  replace(notes: OrderedMap<ExpiryNote>): void {
    this.#notes = notes.clone();
    this.#timer?.close();
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#schedule();
  }

  /** Reports nothing from now on. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.close();
  }

  #schedule(): void {
    const next = this.#notes.values({ limit: 1 })[0];
    if (next === undefined || next.atMs >= this.#wakeAtMs || this.#isClosed) return;
    this.#timer?.close();
    // Short sleeps, because the machine's clock may be set while a timer runs.
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
