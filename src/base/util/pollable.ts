/** Returned by `poll` at the end of the stream. */
export const END: unique symbol = Symbol("end");

/**
 * A stream that is polled, and that wakes its reader when it is worth polling again. Unlike an async iterator it needs
 * no promise per wait, of which there would be millions when thousands of readers wait for the same event.
 */
export interface Pollable<T> {
  /** Returns the next value, undefined if there is none yet, or END. After a failure, throws once; then returns END. */
  poll(): T | undefined | typeof END;
  /**
   * Calls `wake` when there may be more after `poll` returned undefined, but never during `poll`. One listener at a
   * time.
   */
  onReady(wake: () => void): void;
  /** Ends the stream and frees its resources. */
  stop(): void;
}

type Result<T> = IteratorResult<T, undefined>;

/** Waits for the next value of a Pollable. One call of `next` at a time. */
export class PollWaiter<T> {
  readonly #source: Pollable<T>;
  #waiting: PromiseWithResolvers<Result<T>> | undefined;
  #isListening = false;

  constructor(source: Pollable<T>) {
    this.#source = source;
  }

  /** Like `next` of an async iterator. */
  next(): Promise<Result<T>> {
    if (this.#waiting !== undefined) return Promise.reject(new TypeError("next() was called while another is waiting"));
    const waiting = Promise.withResolvers<Result<T>>();
    this.#waiting = waiting;
    if (!this.#isListening) this.#source.onReady(() => this.#ask());
    this.#isListening = true;
    this.#ask();
    return waiting.promise;
  }

  #ask(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    try {
      const given = this.#source.poll();
      if (given === undefined) return;
      this.#waiting = undefined;
      waiting.resolve(given === END ? { done: true, value: undefined } : { done: false, value: given });
    } catch (error) {
      this.#waiting = undefined;
      waiting.reject(error);
    }
  }
}

/**
 * How to read any stream by polling. Streams with many readers implement Pollable and are returned as they are. Others
 * are iterated.
 */
export function pollableOf<T extends object>(stream: AsyncIterable<T>): Pollable<T> {
  return isPollable(stream) ? stream : new PolledIterator(stream[Symbol.asyncIterator]());
}

function isPollable<T>(stream: AsyncIterable<T>): stream is AsyncIterable<T> & Pollable<T> {
  return "poll" in stream && "onReady" in stream && "stop" in stream;
}

/** Makes an async iterator pollable. Requests the next value when `poll` has none. */
class PolledIterator<T extends object> implements Pollable<T> {
  readonly #source: AsyncIterator<T>;
  #wake: (() => void) | undefined;
  #held: T | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isAsking = false;
  #isOver = false;

  constructor(source: AsyncIterator<T>) {
    this.#source = source;
  }

  poll(): T | undefined | typeof END {
    const held = this.#held;
    const failure = this.#failure;
    this.#held = undefined;
    this.#failure = undefined;
    if (held !== undefined) return held;
    if (failure !== undefined) throw failure.error;
    if (this.#isOver) return END;
    if (!this.#isAsking) this.#ask();
    return undefined;
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
  }

  stop(): void {
    this.#isOver = true;
    this.#source.return?.().catch(() => {});
  }

  #ask(): void {
    this.#isAsking = true;
    this.#source.next().then(
      (result) => {
        this.#isAsking = false;
        if (result.done) this.#isOver = true;
        else if (!this.#isOver) this.#held = result.value;
        this.#wake?.();
      },
      (error: unknown) => {
        if (!this.#isOver) this.#failure = { error };
        this.#isOver = true;
        this.#wake?.();
      },
    );
  }
}
