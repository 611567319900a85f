/** Said by `poll` when nothing will come any more. */
export const END: unique symbol = Symbol("end");

/**
 * A stream that is asked for what there is, and tells when it is worth asking again. Other than an async iterator it
 * needs no promise for every wait, of which there would be millions where thousands wait for the same thing.
 */
export interface Pollable<T> {
  /** What comes next; undefined when it is not there yet. Throws what went wrong, once; END follows. */
  poll(): T | undefined | typeof END;
  /** Has `wake` called whenever there may be more after `poll` gave undefined, but never during `poll`. One at a time. */
  onReady(wake: () => void): void;
  /** Ends it and frees what it holds. */
  stop(): void;
}

/** Whether a stream can be polled as well. */
export function isPollable<T>(stream: AsyncIterable<T>): stream is AsyncIterable<T> & Pollable<T> {
  return "poll" in stream && "onReady" in stream;
}

type Result<T> = IteratorResult<T, undefined>;

/** Waits for what a Pollable gives next. One question at a time. */
export class PollWaiter<T> {
  readonly #source: Pollable<T>;
  #waiting: PromiseWithResolvers<Result<T>> | undefined;
  #isListening = false;

  constructor(source: Pollable<T>) {
    this.#source = source;
  }

  /** As `next` of an async iterator. */
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

/** An async iterator that is polled. It is asked for the next value when `poll` finds none. */
export class PolledIterator<T extends object> implements Pollable<T> {
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
