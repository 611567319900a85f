import { setTimeout as sleep } from "node:timers/promises";
import type {
  Entry,
  GetOptions,
  ListOptions,
  Page,
  PutOptions,
  Store,
  StoreError,
  StoreWatch,
  WatchBatch,
  WriteResult,
} from "../store.ts";
import { trackProgress } from "../tracked-watch.ts";

/** The calls of a store that can be delayed or made to fail. */
export type FaultyCall = "get" | "list" | "put" | "delete" | "revision" | "compact";

/** How a call fails: "before" it happens, or "after" it, as if its response were lost. */
export interface Failure {
  readonly error: StoreError;
  readonly when?: "before" | "after";
}

/** A store for tests in front of another that fails or delays calls on demand. */
export class FaultyStore implements Store {
  readonly #inner: Store;
  readonly #failures = new Map<FaultyCall, Failure[]>();
  readonly #delaysMs = new Map<FaultyCall, number>();
  readonly #watches = new Set<{ readonly abort: AbortController; error: StoreError | undefined }>();

  constructor(inner: Store) {
    this.#inner = inner;
  }

  /** Makes the next call of this kind fail. Several calls of `failNext` apply to several calls, in order. */
  failNext(call: FaultyCall, failure: Failure): void {
    const failures = this.#failures.get(call) ?? [];
    failures.push(failure);
    this.#failures.set(call, failures);
  }

  /** Delays all later calls of this kind; 0 removes the delay. */
  delay(call: FaultyCall, delayMs: number): void {
    this.#delaysMs.set(call, delayMs);
  }

  /** Ends all running watches: with the error, or without one. */
  cutWatches(error?: StoreError): void {
    for (const watch of this.#watches) {
      watch.error = error;
      watch.abort.abort();
    }
  }

  get(key: string, options?: GetOptions): Promise<Entry | undefined> {
    return this.#call("get", async () => this.#inner.get(key, options));
  }

  list(prefix: string, options?: ListOptions): Promise<Page> {
    return this.#call("list", () => this.#inner.list(prefix, options));
  }

  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    return this.#call("put", () => this.#inner.put(key, value, expected, options));
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.#call("delete", () => this.#inner.delete(key, expected));
  }

  watch(prefix: string, revision: number, signal: AbortSignal): StoreWatch {
    return trackProgress(this.#watch(prefix, revision, signal), revision);
  }

  async *#watch(prefix: string, revision: number, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    const watch = { abort: new AbortController(), error: undefined as StoreError | undefined };
    this.#watches.add(watch);
    try {
      yield* this.#inner.watch(prefix, revision, AbortSignal.any([signal, watch.abort.signal]));
      if (watch.error !== undefined && !signal.aborted) throw watch.error;
    } finally {
      this.#watches.delete(watch);
    }
  }

  revision(): Promise<number> {
    return this.#call("revision", () => this.#inner.revision());
  }

  compact(revision: number): Promise<void> {
    return this.#call("compact", () => this.#inner.compact(revision));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #call<T>(call: FaultyCall, run: () => Promise<T>): Promise<T> {
    const failure = this.#failures.get(call)?.shift();
    const delayMs = this.#delaysMs.get(call) ?? 0;
    if (delayMs > 0) await sleep(delayMs);
    if (failure !== undefined && failure.when !== "after") throw failure.error;
    const result = await run();
    if (failure !== undefined) throw failure.error;
    return result;
  }
}
