import type { Snapshots } from "../snapshots.ts";
import type { Entry, StoreError, StoreEvent, WriteResult } from "../store.ts";
import type { ChangeRow } from "./messages.ts";

const maxBatchWrites = 256;
const maxBatchBytes = 8 << 20;

/** A write of one key: a new value, or undefined for a delete. */
export interface PlannedChange {
  readonly key: string;
  readonly expected: number;
  readonly value: Uint8Array | undefined;
  readonly expiresAtMs: number | undefined;
}

interface Write {
  readonly event: StoreEvent;
  readonly expiresAtMs: number | undefined;
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Checks writes and commits them in groups: all that arrive in one turn of the event loop, or during a commit, become
 * one transaction. A write is checked against the state after all writes before it, but results and events are only
 * published once they are durable. If a commit fails, its writes and all later ones are rejected. Example, with three
 * writes in one turn of a key at revision 7:
 *   put(expected 7)   becomes revision 8
 *   put(expected 7)   fails with the entry of 8, but only once 8 is durable
 *   put(expected 8)   becomes revision 9, in the same transaction
 */
export class WriteQueue {
  readonly #snapshots: Snapshots;
  readonly #commit: (rows: readonly ChangeRow[]) => Promise<unknown>;
  readonly #onApplied: (event: StoreEvent, expiresAtMs: number | undefined) => void;
  #queue: Write[] = [];
  /** The newest write of each key that is not durable yet. */
  readonly #latest = new Map<string, Write>();
  #revision: number;
  #running: Promise<void> | undefined;

  constructor(
    snapshots: Snapshots,
    commit: (rows: readonly ChangeRow[]) => Promise<unknown>,
    onApplied: (event: StoreEvent, expiresAtMs: number | undefined) => void,
  ) {
    this.#snapshots = snapshots;
    this.#commit = commit;
    this.#onApplied = onApplied;
    this.#revision = snapshots.revision;
  }

  /** Resolves once the outcome is durable. */
  async write(change: PlannedChange): Promise<WriteResult> {
    const { key, value, expected, expiresAtMs } = change;
    const before = this.#latest.get(key);
    const current = before === undefined ? this.#snapshots.get(key) : before.event.entry;
    const isAllowed = (current?.modRevision ?? 0) === expected && (value !== undefined || current !== undefined);
    if (!isAllowed) {
      await before?.done;
      return { ok: false, current };
    }
    const revision = ++this.#revision;
    const createRevision = current?.createRevision ?? revision;
    const entry: Entry | undefined = value && { key, value, createRevision, modRevision: revision };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const write = { event: { revision, key, entry, previous: current }, expiresAtMs, done: promise, resolve, reject };
    this.#queue.push(write);
    this.#latest.set(key, write);
    // At the end of this turn, so that all writes that arrive in it share the transaction.
    this.#running ??= new Promise<void>((next) => setImmediate(next)).then(() => this.#run());
    await write.done;
    return { ok: true, revision };
  }

  /** Resolves when no write is queued or running. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Rejects all queued writes. A commit under way is not affected. */
  fail(error: StoreError): void {
    this.#reject(this.#queue, error);
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchLength(this.#queue));
      try {
        await this.#commit(batch.map(rowOf));
      } catch (error) {
        this.#reject([...batch, ...this.#queue], error);
        continue;
      }
      this.#apply(batch);
    }
    this.#running = undefined;
  }

  #apply(batch: readonly Write[]): void {
    this.#snapshots.apply(batch.map((write) => write.event));
    for (const write of batch) {
      if (this.#latest.get(write.event.key) === write) this.#latest.delete(write.event.key);
      this.#onApplied(write.event, write.expiresAtMs);
      write.resolve();
    }
  }

  #reject(writes: readonly Write[], error: unknown): void {
    this.#queue = [];
    this.#latest.clear();
    // None of these revisions was published.
    this.#revision = this.#snapshots.revision;
    for (const write of writes) write.reject(error);
  }
}

function batchLength(queue: readonly Write[]): number {
  let size = 0;
  let length = 0;
  for (const { event } of queue) {
    size += event.entry?.value.length ?? 0;
    if (length > 0 && (length >= maxBatchWrites || size > maxBatchBytes)) break;
    length++;
  }
  return length;
}

function rowOf({ event, expiresAtMs }: Write): ChangeRow {
  return {
    revision: event.revision,
    key: event.key,
    createRevision: event.entry?.createRevision ?? 0,
    value: event.entry?.value ?? null,
    expiresAtMs: expiresAtMs ?? null,
  };
}
