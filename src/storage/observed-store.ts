import type { Clock } from "../base/util/clock.ts";
import type { Eventually } from "../base/util/eventually.ts";
import {
  type Entry,
  type GetOptions,
  type ListOptions,
  type MeasuredOperation,
  type Page,
  type PutOptions,
  type RequestObserver,
  type Snapshot,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreWatch,
  type WatchInterest,
  type WriteResult,
} from "./store.ts";

const REPORT_EVERY_MS = 60_000;
const MOST_CAUSES = 100;
/** Errors that mean the store is broken, as opposed to a request it cannot serve. */
const BROKEN: ReadonlySet<StoreErrorCode> = new Set(["unavailable", "timeout", "no-space"]);

/** Receives the outcome and duration of writes. */
export interface StoreObserver extends RequestObserver {
  readonly clock: Clock;
  /** A write failed; called at most once per minute for the same cause. */
  failed(error: StoreError): void;
  /** A put has succeeded since the last reported failure, or a store that had stopped responding responds again. */
  recovered(): void;
}

/**
 * A store in front of another that tracks whether the other accepts writes. With a full or read-only disk, or etcd out
 * of space, reads still succeed.
 */
export class ObservedStore implements Store {
  readonly #inner: Store;
  readonly #observer: StoreObserver;
  /** When each cause was last reported. */
  readonly #reportedAtMs = new Map<string, number>();
  #failure: StoreError | undefined;
  /** Whether a failure was reported and its recovery was not. */
  #isReported = false;

  constructor(inner: Store, observer: StoreObserver) {
    this.#inner = inner;
    this.#observer = observer;
    inner.onOutage?.((error) => (error === undefined ? this.#answersAgain() : this.#failed(error)));
  }

  /** Throws the error of the latest failed write, until a put has succeeded. */
  requireWritable(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  snapshot(prefix: string): Snapshot | undefined {
    return this.#inner.snapshot?.(prefix);
  }

  get(key: string, options?: GetOptions): Eventually<Entry | undefined> {
    return this.#inner.get(key, options);
  }

  list(prefix: string, options?: ListOptions): Promise<Page> {
    return this.#inner.list(prefix, options);
  }

  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    const ended = this.#begin(expected === 0 ? "create" : "update", key);
    const written = this.#inner.put(key, value, expected, options);
    written.then(
      (result) => {
        ended(false);
        this.#written(result);
      },
      (error: unknown) => {
        ended(true);
        this.#failed(error);
      },
    );
    return written;
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    const ended = this.#begin("delete", key);
    const written = this.#inner.delete(key, expected);
    // A successful delete does not mean that puts work: etcd out of space still deletes.
    written.then(
      () => ended(false),
      (error: unknown) => {
        ended(true);
        this.#failed(error);
      },
    );
    return written;
  }

  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    return this.#inner.watch(prefix, revision, signal, interest);
  }

  revision(): Promise<number> {
    return this.#inner.revision();
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #begin(operation: MeasuredOperation, key: string): (isFailed: boolean) => void {
    const { clock, requestEnded } = this.#observer;
    const startMs = clock.monotonic();
    return (isFailed) => requestEnded(operation, key, (clock.monotonic() - startMs) / 1000, isFailed);
  }

  readonly #written = ({ ok }: WriteResult): void => {
    // A failed precondition may have been detected without touching the disk.
    if (!ok || this.#failure === undefined) return;
    this.#recover();
  };

  /** Failures recorded before an outage are obsolete once the store responds again. */
  #answersAgain(): void {
    if (this.#failure !== undefined) this.#recover();
  }

  #recover(): void {
    this.#failure = undefined;
    // On a disk that is almost full, small writes succeed between large ones.
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#observer.recovered();
  }

  readonly #failed = (error: unknown): void => {
    if (!(error instanceof StoreError) || !BROKEN.has(error.code)) return;
    this.#failure = error;
    const nowMs = this.#observer.clock.monotonic();
    const cause = rootMessage(error);
    const reportedAtMs = this.#reportedAtMs.get(cause);
    if (reportedAtMs !== undefined && nowMs - reportedAtMs < REPORT_EVERY_MS) return;
    if (this.#reportedAtMs.size >= MOST_CAUSES) this.#reportedAtMs.clear();
    this.#reportedAtMs.set(cause, nowMs);
    this.#isReported = true;
    this.#observer.failed(error);
  };
}

/** The innermost cause: when etcd stops responding, writes fail with several different messages. */
function rootMessage(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? rootMessage(cause) : error.message;
}
