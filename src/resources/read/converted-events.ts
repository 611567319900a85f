import type { WatchEvent } from "../../base/api/reply.ts";
import { END, type Pollable } from "../../base/util/pollable.ts";
import type { WatchBatch } from "../../storage/store.ts";

type Batch = readonly WatchEvent[];

/** Watch events that are converted asynchronously: one batch after the other, in order. */
export class ConvertedEvents implements Pollable<Batch> {
  readonly #source: Pollable<WatchBatch>;
  readonly #translate: (batch: WatchBatch) => Promise<Batch>;
  #wake: () => void = () => {};
  #ready: Batch | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isBusy = false;

  constructor(source: Pollable<WatchBatch>, translate: (batch: WatchBatch) => Promise<Batch>) {
    this.#source = source;
    this.#translate = translate;
  }

  /** Whether batches have been taken from the source that `poll` has not returned yet. */
  get isBusy(): boolean {
    return this.#isBusy || this.#ready !== undefined;
  }

  poll(): Batch | undefined | typeof END {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined) return ready;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isBusy) return undefined;
    const batch = this.#source.poll();
    if (batch === undefined || batch === END) return batch;
    this.#isBusy = true;
    this.#translate(batch).then(
      (events) => {
        this.#isBusy = false;
        if (events.length > 0) this.#ready = events;
        this.#wake();
      },
      (error: unknown) => {
        this.#isBusy = false;
        this.#failure = { error };
        this.#wake();
      },
    );
    return undefined;
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    this.#source.onReady(wake);
  }

  stop(): void {
    this.#source.stop();
  }
}
