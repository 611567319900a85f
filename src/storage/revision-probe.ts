import type { Clock } from "../lib/clock.ts";

const MOST_IN_FLIGHT = 2;
/** A question without an answer for so long may never get one: whoever asks now does not wait for its end. */
const SILENCE_MS = 1000;

interface Batch {
  readonly promise: Promise<number>;
  resolve(revision: number): void;
  reject(error: unknown): void;
}

/**
 * Asks for the newest revision on behalf of many callers at once. An answer is only given to callers who asked before
 * the question was sent, so that it includes every write acknowledged before they asked.
 */
export class RevisionProbe {
  readonly #read: () => Promise<number>;
  #waiting: Batch | undefined;
  #inFlight = 0;
  readonly #clock: Pick<Clock, "monotonic">;
  #sentAtMs = 0;

  constructor(read: () => Promise<number>, clock: Pick<Clock, "monotonic">) {
    this.#read = read;
    this.#clock = clock;
  }

  /** A revision at least as new as the newest at the time of the call. */
  newest(): Promise<number> {
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers<number>();
      // Whoever asks in the same turn joins before the question is sent.
      if (this.#inFlight < MOST_IN_FLIGHT) queueMicrotask(() => this.#send());
    }
    const { promise } = this.#waiting;
    if (this.#inFlight >= MOST_IN_FLIGHT && this.#isSilent()) this.#ask(this.#waiting);
    return promise;
  }

  #send(): void {
    const batch = this.#waiting;
    if (batch !== undefined && this.#inFlight < MOST_IN_FLIGHT) this.#ask(batch);
  }

  #isSilent(): boolean {
    return this.#clock.monotonic() - this.#sentAtMs >= SILENCE_MS;
  }

  #ask(batch: Batch): void {
    this.#waiting = undefined;
    this.#inFlight++;
    this.#sentAtMs = this.#clock.monotonic();
    this.#read()
      .then(batch.resolve, batch.reject)
      .finally(() => {
        this.#inFlight--;
        this.#send();
      });
  }
}
