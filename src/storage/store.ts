import type { Clock } from "../lib/clock.ts";
import type { Sequence } from "../lib/sequence.ts";

/** One key with its value, as it was at `modRevision`. Entries are immutable and shared by all readers. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the write that created this key. */
  readonly createRevision: number;
  /** Revision of the write that produced this value. */
  readonly modRevision: number;
}

/** A refused write is an expected outcome, so it carries what is there instead of being thrown. */
export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly current: Entry | undefined };

/** One step of history. `entry` is undefined when the key was deleted, `previous` when it did not exist before. */
export interface StoreEvent {
  readonly revision: number;
  readonly key: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

/** Entries in ascending byte order of their keys, all as of `revision`. */
export interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  /** How many further entries with this prefix follow after the last one given. */
  readonly remaining: number;
}

/** What a list selects and at which moment. */
export interface ListOptions {
  /** Only keys greater than this one. */
  readonly after?: string;
  /** At most so many entries; 0 or absent means all. */
  readonly limit?: number;
  /** The state at exactly this revision. Absent: the newest, including every write acknowledged before the call. */
  readonly revision?: number;
  /** Any state at least as new as this revision will do; 0 means any state at all. Not together with `revision`. */
  readonly minRevision?: number;
}

/** How fresh a single read must be. Absent: it sees every write acknowledged before the call. */
export interface GetOptions {
  /** Any state at least as new as this revision will do; 0 means any state at all. */
  readonly minRevision?: number;
}

/** A state that is in memory. It may be a moment old, and moves on by itself. */
export interface Snapshot {
  /** How many entries have a key that starts with `prefix`. Costs next to nothing. */
  count(prefix: string): number;
  /** How much of the past is kept for lists and watches. */
  readonly eventCount: number;
  readonly historyBytes: number;
  /** The newest revision. */
  readonly revision: number;
  get(key: string): Entry | undefined;
  /** Entries whose key starts with `prefix`, all of one moment. */
  list(prefix: string): Page;
  /** Those that a list at `revision` has, behind `after`, without copying them. Undefined: that state is not in memory. */
  slice(prefix: string, options: { readonly revision: number; readonly after?: string }): Sequence<Entry> | undefined;
}

/** Extra conditions of a write. */
export interface PutOptions {
  /** The entry is deleted, with an event, some time after so many seconds. */
  readonly ttlSeconds?: number;
}

/**
 * Keys, bytes and revisions. Every write that changes something gets the next revision of one counter for the whole
 * store; revisions never repeat and never go back.
 */
export interface Store {
  /**
   * Tells one listener when the store has stopped to answer anything, with a StoreError, and when it answers again, with
   * undefined. Absent: it cannot fall silent.
   */
  onOutage?(listener: (error: unknown) => void): void;
  /** `watch` throws: whoever follows a prefix lists it again instead. Absent: it can be watched. */
  readonly isUnwatched?: true;
  /**
   * Some recent state of everything below `prefix`, if the store has one in memory: what `minRevision: 0` reads, without
   * waiting. Absent or undefined: it has none, or not now.
   */
  snapshot?(prefix: string): Snapshot | undefined;
  /** Resolves to undefined when the key does not exist. */
  get(key: string, options?: GetOptions): Promise<Entry | undefined>;
  /**
   * Entries whose key starts with `prefix`. Throws StoreError "compacted" when `revision` is no longer kept, and
   * "future-revision" when `revision` or `minRevision` is not reached within about three seconds.
   */
  list(prefix: string, options?: ListOptions): Promise<Page>;
  /** Writes only if the key's modRevision equals `expected`; 0 means the key must not exist. */
  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult>;
  /** Deletes only if the key's modRevision equals `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>;
  /**
   * Every change with this prefix after `revision`, in order and without gaps, in batches. Throws StoreError
   * "compacted" once that can no longer be promised. A consumer that pauses costs the store nothing. An empty batch
   * says only that the store's revision has moved (see `progress`). Ends quietly when the signal aborts.
   */
  watch(prefix: string, revision: number, signal: AbortSignal): StoreWatch;
  /** The newest revision, including every write acknowledged before the call. */
  revision(): Promise<number>;
  /** Forgets history before `revision`: reads and watches older than it are refused from then on. */
  compact(revision: number): Promise<void>;
  /** Ends all watches and releases everything. Calls after it throw StoreError "closed". */
  close(): Promise<void>;
}

/** A watch of one prefix. One consumer, one `next()` at a time. */
export interface StoreWatch extends AsyncIterable<WatchBatch> {
  /**
   * Everything up to this revision was in batches taken before the latest `next()`. It moves on while that call is
   * waiting, also when only other prefixes change, so a consumer that is done with its batches may announce it.
   */
  progress(): number;
}

/** Events of one prefix in order, and the revision up to which the prefix is now completely known. */
export interface WatchBatch {
  readonly events: readonly StoreEvent[];
  readonly revision: number;
}

/** What a store was asked for, as kube-apiserver's metrics of etcd call it. */
export type MeasuredOperation = "get" | "list" | "create" | "update" | "delete" | "getCurrentResourceVersion";

/** Hears of requests that a store has sent to where its values are, once they are answered. */
export interface RequestObserver {
  readonly clock: Pick<Clock, "monotonic">;
  /** `key` is the key, or the prefix that was listed; empty where there is none. */
  requestEnded(operation: MeasuredOperation, key: string, seconds: number, isFailed: boolean): void;
}

/** Why a store could not keep a promise. The set is closed: `resources/model/store-errors.ts` translates every member. */
export type StoreErrorCode =
  | "compacted"
  | "future-revision"
  | "unavailable"
  | "timeout"
  | "too-large"
  | "no-space"
  | "closed";

/** Thrown when a store cannot keep a promise; expected refusals are results, not errors. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** "compacted": the oldest revision still kept. "future-revision": the newest revision there is. */
  readonly revision: number;

  constructor(code: StoreErrorCode, message: string, options: { revision?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "StoreError";
    this.code = code;
    this.revision = options.revision ?? 0;
  }
}
