import type { Clock } from "../lib/clock.ts";
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
  type WriteResult,
} from "./store.ts";

const REPORT_EVERY_MS = 60_000;
const MOST_CAUSES = 100;
/** By these a store says that it is broken, and not that it was asked for something that it cannot do. */
const BROKEN: ReadonlySet<StoreErrorCode> = new Set(["unavailable", "timeout", "no-space"]);

/** Is told what becomes of writes, and how long each takes. */
export interface StoreObserver extends RequestObserver {
  readonly clock: Clock;
  /** The store failed to write; called once per minute for the same cause. */
  failed(error: StoreError): void;
  /** A put has succeeded since the last failure that was told, or a store that had fallen silent answers again. */
  recovered(): void;
}

/**
 * A store in front of another that knows whether that takes writes: a full or read-only disk, or etcd without space,
 * still answers every read.
 */
export class ObservedStore implements Store {
  readonly #inner: Store;
  readonly #observer: StoreObserver;
  /** When each cause was told last. */
  readonly #toldAtMs = new Map<string, number>();
  #failure: StoreError | undefined;
  /** Somebody waits to hear that writes succeed again. */
  #isTold = false;

  constructor(inner: Store, observer: StoreObserver) {
    this.#inner = inner;
    this.#observer = observer;
    inner.onOutage?.((error) => (error === undefined ? this.#answersAgain() : this.#failed(error)));
  }

  /** Throws what the latest write failed with, until a put has succeeded. */
  requireWritable(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  snapshot(prefix: string): Snapshot | undefined {
    return this.#inner.snapshot?.(prefix);
  }

  get(key: string, options?: GetOptions): Promise<Entry | undefined> {
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
    // One that succeeds says nothing about the next put: etcd without space still deletes.
    written.then(
      () => ended(false),
      (error: unknown) => {
        ended(true);
        this.#failed(error);
      },
    );
    return written;
  }

  watch(prefix: string, revision: number, signal: AbortSignal): StoreWatch {
    return this.#inner.watch(prefix, revision, signal);
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
    // A refusal may have been decided without touching the disk.
    if (!ok || this.#failure === undefined) return;
    this.#recover();
  };

  /** Failures from before say nothing about a store that could not even answer. */
  #answersAgain(): void {
    if (this.#failure !== undefined) this.#recover();
  }

  #recover(): void {
    this.#failure = undefined;
    // On a disk that is almost full, small writes succeed between large ones.
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#observer.recovered();
  }

  readonly #failed = (error: unknown): void => {
    if (!(error instanceof StoreError) || !BROKEN.has(error.code)) return;
    this.#failure = error;
    const nowMs = this.#observer.clock.monotonic();
    const cause = rootMessage(error);
    const told = this.#toldAtMs.get(cause);
    if (told !== undefined && nowMs - told < REPORT_EVERY_MS) return;
    if (this.#toldAtMs.size >= MOST_CAUSES) this.#toldAtMs.clear();
    this.#toldAtMs.set(cause, nowMs);
    this.#isTold = true;
    this.#observer.failed(error);
  };
}

/** What a failure comes from: a silent etcd lets writes fail in more than one way. */
function rootMessage(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? rootMessage(cause) : error.message;
}
