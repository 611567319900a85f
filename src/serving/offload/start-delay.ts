import type { Clock, Timer } from "../../base/util/clock.ts";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/**
 * Delays the start of threads that fail again and again. The first failure delays nothing; from the second one in a row
 * on, the delay doubles each time.
 */
export class StartDelay {
  readonly #clock: Clock;
  readonly #retry: () => void;
  #failures = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  /** Calls `retry` when a start that was not allowed may be tried again. */
  constructor(clock: Clock, retry: () => void) {
    this.#clock = clock;
    this.#retry = retry;
  }

  mayStart(): boolean {
    const leftMs = this.#notBeforeMs - this.#clock.monotonic();
    if (leftMs <= 0) return true;
    this.#timer ??= this.#clock
      .setTimer(leftMs, () => {
        this.#timer = undefined;
        this.#retry();
      })
      .unref();
    return false;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures === 1) return;
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 2));
    this.#notBeforeMs = this.#clock.monotonic() + delayMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.#timer?.close();
  }
}
