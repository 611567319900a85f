const MOST_IN_FLIGHT = 2;

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

  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  /** A revision at least as new as the newest at the time of the call. */
  newest(): Promise<number> {
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers<number>();
      // Whoever asks in the same turn joins before the question is sent.
      if (this.#inFlight < MOST_IN_FLIGHT) queueMicrotask(() => this.#send());
    }
    return this.#waiting.promise;
  }

  #send(): void {
    const batch = this.#waiting;
    if (batch === undefined || this.#inFlight >= MOST_IN_FLIGHT) return;
    this.#waiting = undefined;
    this.#inFlight++;
    this.#read()
      .then(batch.resolve, batch.reject)
      .finally(() => {
        this.#inFlight--;
        this.#send();
      });
  }
}
