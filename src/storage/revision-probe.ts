import type { Clock } from "../base/util/clock.ts";

const MOST_IN_FLIGHT = 2;
/** A request unanswered for this long may never be answered: new callers no longer wait for it. */
const SILENCE_MS = 1000;

interface Batch {
  readonly promise: Promise<number>;
  resolve(revision: number): void;
  reject(error: unknown): void;
}

/**
 * Reads the newest revision for many callers with one request. A response only goes to callers who called before the
 * request was sent, so it includes every write acknowledged before their call.
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

  /** Resolves to a revision at least as new as the newest at the time of the call. */
  newest(): Promise<number> {
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers<number>();
      // Callers in the same turn of the event loop share the request.
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
