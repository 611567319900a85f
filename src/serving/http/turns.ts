/** Requests of one read of a socket that begin at once. What they do after an `await` only runs when all have begun. */
const MAX_PER_READ = 8;
/** Time for requests in a turn of the event loop, before the others wait for the next. */
const TURN_MS = 8;
/** Waiting requests that a turn may begin. */
const MAX_PER_TURN = 64;

/**
 * Begins requests in the order in which they arrive. One packet can have a thousand requests: HTTP/2 streams, or
 * pipelined ones of HTTP/1.1. Those that would make a turn of the event loop long wait for a later turn.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  #ofRead = 0;
  #begunMs: number | undefined;
  #isScheduled = false;

  /** Calls `begin` now or in a later turn. */
  take(begin: () => void): void {
    if (this.#next === this.#waiting.length && this.#ofRead < MAX_PER_READ && this.#hasTime()) {
      if (this.#ofRead++ === 0) queueMicrotask(this.#endRead);
      begin();
      return;
    }
    this.#waiting.push(begin);
    this.#schedule();
  }

  /** Also begins a turn. */
  #hasTime(): boolean {
    if (this.#begunMs !== undefined) return performance.now() - this.#begunMs < TURN_MS;
    this.#begunMs = performance.now();
    setImmediate(this.#endTurn);
    return true;
  }

  readonly #endRead = (): void => {
    this.#ofRead = 0;
  };

  readonly #endTurn = (): void => {
    this.#begunMs = undefined;
  };

  /** Node runs all that follows from an immediate before the next one, so each of them knows how long the turn is. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    let begunMs: number | undefined;
    const beginOne = (): void => {
      begunMs ??= performance.now();
      if (performance.now() - begunMs < TURN_MS) this.#beginNext();
    };
    const count = Math.min(this.#waiting.length - this.#next, MAX_PER_TURN);
    for (let left = Math.max(1, count); left > 0; left--) setImmediate(beginOne);
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#next < this.#waiting.length) this.#schedule();
    });
  }

  #beginNext(): void {
    const begin = this.#waiting[this.#next++];
    // The list is emptied at once, because `shift` takes long for a long list.
    if (this.#next === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#next = 0;
    }
    begin?.();
  }
}
