/** Statistics of a value over a period. */
export interface DemandStatistics {
  readonly seconds: number;
  /** Weighted by time. NaN if no time has passed. */
  readonly average: number;
  readonly deviation: number;
  readonly most: number;
}

/** How many seats a priority level could use, over time. Compat: `fairqueuing.Integrator`. */
export class SeatDemand {
  readonly #monotonic: () => number;
  #sinceMs: number;
  #value = 0;
  #most = 0;
  #seconds = 0;
  #sum = 0;
  #sumOfSquares = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#sinceMs = monotonic();
  }

  set(value: number, nowMs: number): void {
    this.#proceed(nowMs);
    this.#value = value;
    if (value > this.#most) this.#most = value;
  }

  /** The statistics since the last call. */
  take(): DemandStatistics {
    this.#proceed(this.#monotonic());
    const seconds = this.#seconds;
    const average = this.#sum / seconds;
    const deviation = Math.sqrt(this.#sumOfSquares / seconds - average * average);
    const taken = { seconds, average, deviation: Number.isNaN(deviation) ? 0 : deviation, most: this.#most };
    this.#seconds = 0;
    this.#sum = 0;
    this.#sumOfSquares = 0;
    this.#most = this.#value;
    return taken;
  }

  #proceed(nowMs: number): void {
    const seconds = (nowMs - this.#sinceMs) / 1000;
    this.#sinceMs = nowMs;
    this.#seconds += seconds;
    this.#sum += this.#value * seconds;
    this.#sumOfSquares += this.#value * this.#value * seconds;
  }
}
