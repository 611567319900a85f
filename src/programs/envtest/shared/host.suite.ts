import type { Timer } from "../../../base/util/clock.ts";

/** Timers that fire when a test says so. */
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

  /** Waits until a timer is set, and fires all timers. */
  async pass(): Promise<void> {
    while (this.#waiting.size === 0) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    for (const call of [...this.#waiting]) call();
  }
}
