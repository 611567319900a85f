import type { Timer } from "../../lib/clock.ts";

/** Timers that run out when a test says so. */
export class DrivenTimers {
  readonly #waiting = new Set<() => void>();
  #changed = Promise.withResolvers<void>();

  readonly set = (_delayMs: number, call: () => void): Timer => {
    this.#waiting.add(call);
    this.#changed.resolve();
    const timer: Timer = { close: () => this.#waiting.delete(call), unref: () => timer };
    return timer;
  };

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits until somebody waits, and lets the time pass. */
  async pass(): Promise<void> {
    while (this.#waiting.size === 0) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    for (const call of [...this.#waiting]) call();
  }
}
