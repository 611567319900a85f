const MOST_SECONDS = 32;

/**
 * How many seconds rejected clients should wait, by priority level. It doubles while many requests are rejected, and falls by
 * one at a time. Compat: `droppedRequestsTracker`.
 */
export class RetryAfter {
  readonly #now: () => number;
  readonly #levels = new Map<string, Rejections>();

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a rejected request, and returns the seconds that its client should wait. */
  rejected(level: string): number {
    let known = this.#levels.get(level);
    if (known === undefined) {
      known = new Rejections();
      this.#levels.set(level, known);
    }
    known.add(Math.floor(this.#now() / 1000));
    return known.seconds;
  }

  /** Forgets a priority level that no longer exists. */
  forget(level: string): void {
    this.#levels.delete(level);
  }
}

class Rejections {
  seconds = 1;
  #second = 0;
  #count = 0;
  #doubledAt = 0;
  #past: { readonly second: number; readonly count: number }[] = [];

  add(second: number): void {
    if (second === this.#second) {
      this.#count++;
      return;
    }
    this.#past.push({ second: this.#second, count: this.#count });
    const kept = Math.min(2 * this.seconds, MOST_SECONDS);
    this.#past = this.#past.filter((one) => this.#second - one.second <= kept);
    this.#second = second;
    this.#count = 1;
    this.#adapt(second);
  }

  #adapt(now: number): void {
    let recent = 0;
    for (const { second, count } of this.#past) if (second < now && now - second <= this.seconds) recent += count;
    if (now - this.#doubledAt >= this.seconds && recent >= 3 * this.seconds) {
      this.seconds = Math.min(2 * this.seconds, MOST_SECONDS);
      this.#doubledAt = now;
    } else if (recent < this.seconds && this.seconds > 1) this.seconds--;
  }
}
