import { resolve } from "node:path";
import { addAll } from "../../base/util/add-all.ts";
import { type Clock, systemClock } from "../../base/util/clock.ts";
import { type Expired, Expiry } from "../expiry.ts";
import { HistoryLimit, type HistoryOptions } from "../history-limit.ts";
import type { Snapshots } from "../snapshots.ts";
import {
  type Entry,
  type GetOptions,
  type ListOptions,
  type Page,
  type PutOptions,
  type Snapshot,
  type Store,
  StoreError,
  type StoreEvent,
  type StoreWatch,
  type WatchInterest,
  type WriteResult,
} from "../store.ts";
import { requireFitting } from "../value-limit.ts";
import { DatabaseThread } from "./database-thread.ts";
import { type LoadedState, loadState } from "./load.ts";
import { packRows } from "./messages.ts";
import { WriteQueue } from "./write-queue.ts";

const futureWaitMs = 3000;
const expiryRetryMs = 1000;
const trimRows = 500;

/**
 * A store in one SQLite file, for one process at a time. Acknowledged writes survive a crash of the process and a power
 * failure. Data, revisions and history since the last compaction survive a restart. Everything is also in memory:
 * reads, lists and watches never touch the file, and no call blocks the event loop.
 */
export class SqliteStore implements Store {
  readonly #thread: DatabaseThread;
  readonly #snapshots: Snapshots;
  readonly #writes: WriteQueue;
  readonly #expiry: Expiry;
  readonly #history: HistoryLimit;
  readonly #clock: Clock;
  /** Rows that may be deleted. */
  #garbage: number[];
  /** Rows that may be deleted once the compaction that made them obsolete is durable. */
  #doomed: number[] = [];
  #trimming: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens or creates the file; its folder must exist. Throws StoreError "unavailable" if another process has it open,
   * or if it cannot be read.
   */
  static async open(path: string, options: HistoryOptions = {}): Promise<SqliteStore> {
    let store: SqliteStore | undefined;
    const thread = new DatabaseThread(resolve(path), (error) => {
      if (store !== undefined) store.#abandon(error);
    });
    try {
      const { compacted } = await thread.request("open", { path: resolve(path) });
      store = new SqliteStore(thread, await loadState(thread, compacted), options);
      return store;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** Use `open`. */
  private constructor(thread: DatabaseThread, loaded: LoadedState, options: HistoryOptions) {
    this.#thread = thread;
    this.#clock = options.clock ?? systemClock;
    this.#snapshots = loaded.snapshots;
    this.#garbage = [...loaded.garbage];
    this.#expiry = new Expiry((expired) => this.#deleteExpired(expired), this.#clock);
    for (const { key, modRevision, atMs } of loaded.expiring) this.#expiry.add(key, modRevision, atMs);
    this.#history = new HistoryLimit(this.#snapshots, (revision) => this.#compactQuietly(revision), options);
    this.#writes = new WriteQueue(
      this.#snapshots,
      (rows) => {
        const packed = packRows(rows);
        return this.#thread.request("commit", packed, [packed.values.buffer]);
      },
      (event, expiresAtMs) => this.#afterWrite(event, expiresAtMs),
    );
    this.#startTrim();
  }

  snapshot(): Snapshot | undefined {
    return this.#closing === undefined ? this.#snapshots : undefined;
  }

  async get(key: string, options: GetOptions = {}): Promise<Entry | undefined> {
    this.#requireOpen();
    if (options.minRevision !== undefined) await this.#snapshots.waitFor(options.minRevision, futureWaitMs);
    return this.#snapshots.get(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#requireOpen();
    const atLeast = options.revision ?? options.minRevision;
    if (atLeast !== undefined) await this.#snapshots.waitFor(atLeast, futureWaitMs);
    return this.#snapshots.list(prefix, options);
  }

  async put(key: string, value: Uint8Array, expected: number, options: PutOptions = {}): Promise<WriteResult> {
    this.#requireOpen();
    requireFitting(key, value);
    const { ttlSeconds } = options;
    const expiresAtMs = ttlSeconds === undefined ? undefined : this.#clock.now() + ttlSeconds * 1000;
    return this.#writes.write({ key, value, expected, expiresAtMs });
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    this.#requireOpen();
    return this.#writes.write({ key, value: undefined, expected, expiresAtMs: undefined });
  }

  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    this.#requireOpen();
    return this.#snapshots.watch(prefix, revision, signal, interest);
  }

  async revision(): Promise<number> {
    this.#requireOpen();
    return this.#snapshots.revision;
  }

  async compact(revision: number): Promise<void> {
    this.#requireOpen();
    if (revision <= this.#snapshots.oldestRevision) return;
    // A value overwritten or deleted before the oldest kept revision is no longer needed.
    for (const event of this.#snapshots.compact(revision)) {
      if (event.previous !== undefined) this.#doomed.push(event.previous.modRevision);
      if (event.entry === undefined) this.#doomed.push(event.revision);
    }
    const count = this.#doomed.length;
    await this.#thread.request("compact", { revision });
    // Not earlier: after a crash in between, the file would have gaps in the history it claims to keep.
    addAll(this.#garbage, this.#doomed.splice(0, count));
    this.#startTrim();
  }

  /** Waits for writes that were accepted before. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#expiry.close();
    this.#history.close();
    await this.#writes.drain();
    this.#snapshots.close();
    await this.#trimming;
    await this.#thread.close();
  }

  #afterWrite(event: StoreEvent, expiresAtMs: number | undefined): void {
    if (expiresAtMs !== undefined) this.#expiry.add(event.key, event.revision, expiresAtMs);
    this.#history.checkSize();
  }

  #deleteExpired(expired: readonly Expired[]): void {
    for (const { key, modRevision } of expired) {
      const again = (): void => this.#expiry.add(key, modRevision, this.#clock.now() + expiryRetryMs);
      this.delete(key, modRevision).catch(again);
    }
  }

  #compactQuietly(revision: number): void {
    // Ignored: the next write reports the problem, and the history in memory is already shorter.
    this.compact(revision).catch(() => undefined);
  }

  /** Deletes obsolete rows in small transactions, so that writes can run in between. */
  #startTrim(): void {
    this.#trimming ??= this.#trim().finally(() => {
      this.#trimming = undefined;
    });
  }

  async #trim(): Promise<void> {
    while (this.#garbage.length > 0 && this.#closing === undefined) {
      const revisions = this.#garbage.slice(0, trimRows);
      try {
        await this.#thread.request("trim", { revisions });
      } catch {
        // The rows stay in the list for the next compaction, and the next start finds them as well.
        return;
      }
      this.#garbage.splice(0, revisions.length);
    }
  }

  #abandon(error: StoreError): void {
    this.#writes.fail(error);
    this.#snapshots.close(error);
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new StoreError("closed", "the store is closed");
  }
}
