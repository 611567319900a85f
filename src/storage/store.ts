import type { Clock } from "../base/util/clock.ts";
import type { Eventually } from "../base/util/eventually.ts";
import type { Sequence } from "../base/util/sequence.ts";

/** One key with its value, as it was at `modRevision`. Entries are immutable and shared by all readers. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the write that created this key. */
  readonly createRevision: number;
  /** Revision of the write that produced this value. */
  readonly modRevision: number;
}

/** A failed precondition is an expected outcome, so it returns the current entry instead of throwing. */
export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly current: Entry | undefined };

/** One change. `entry` is undefined if the key was deleted, `previous` if it did not exist before. */
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
  /** How many more entries with this prefix follow the last one of the page. */
  readonly remaining: number;
}

/** What a list selects, and at which revision. */
export interface ListOptions {
  /** Only keys greater than this one. */
  readonly after?: string;
  /** Maximum number of entries. 0 or omitted: all. */
  readonly limit?: number;
  /**
   * List the state at exactly this revision. If omitted, the newest state, with every write acknowledged before the
   * call.
   */
  readonly revision?: number;
  /** Accept any state at least as new as this revision; 0 means any state. Excludes `revision`. */
  readonly minRevision?: number;
}

/** How fresh a single read must be. If omitted, it sees every write acknowledged before the call. */
export interface GetOptions {
  /** Accept any state at least as new as this revision; 0 means any state. */
  readonly minRevision?: number;
}

/** A state in memory. It may be slightly stale, and changes as the store does. */
export interface Snapshot {
  /** How many entries have a key that starts with `prefix`. Cheap. */
  count(prefix: string): number;
  /** How much history is kept for lists and watches. */
  readonly eventCount: number;
  readonly historyBytes: number;
  /** The newest revision. */
  readonly revision: number;
  get(key: string): Entry | undefined;
  /** Entries whose key starts with `prefix`, all of the same revision. */
  list(prefix: string): Page;
  /**
   * Entries of a list at `revision` with keys greater than `after`, not copied. Undefined if that state is not in
   * memory.
   */
  slice(prefix: string, options: { readonly revision: number; readonly after?: string }): Sequence<Entry> | undefined;
}

/** Options of a write. */
export interface PutOptions {
  /** The entry is deleted, with an event, some time after this many seconds. */
  readonly ttlSeconds?: number;
}

/**
 * Keys, bytes and revisions. Every write that changes something gets the next revision of one counter for the whole
 * store; revisions never repeat and never go back.
 */
export interface Store {
  /**
   * Registers the one listener for outages. It is called with a StoreError when the store stops responding, and with
   * undefined when it responds again. Optional. If omitted, the store cannot become unresponsive.
   */
  onOutage?(listener: (error: unknown) => void): void;
  /** If true, `watch` throws: callers that follow a prefix must list it again instead. If omitted, watches work. */
  readonly isUnwatched?: true;
  /**
   * A recent state of everything below `prefix`, if it is in memory: the state that `minRevision: 0` reads, without
   * waiting. Undefined if there is none now. Optional. If omitted, there never is one.
   */
  snapshot?(prefix: string): Snapshot | undefined;
  /** The entry of a key, or undefined if there is none. At once, if the store has it in memory. May throw, or reject. */
  get(key: string, options?: GetOptions): Eventually<Entry | undefined>;
  /**
   * Entries whose key starts with `prefix`. Throws StoreError "compacted" if `revision` is no longer kept, and
   * "future-revision" if `revision` or `minRevision` is not reached within about 3 s.
   */
  list(prefix: string, options?: ListOptions): Promise<Page>;
  /** Writes only if the key's modRevision equals `expected`; 0 means the key must not exist. */
  put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult>;
  /** Deletes only if the key's modRevision equals `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>;
  /**
   * Every change with this prefix after `revision`, in order and without gaps, in batches. Throws StoreError
   * "compacted" once that is no longer possible. A consumer that pauses costs the store nothing. An empty batch only
   * means that the store's revision has changed (see `progress`). Ends without an error when the signal aborts. With
   * `interest`, events that lack one of its terms may be left out; a store without an index returns them.
   */
  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch;
  /** The newest revision, including every write acknowledged before the call. */
  revision(): Promise<number>;
  /** Drops history before `revision`: later reads and watches of older revisions fail with "compacted". */
  compact(revision: number): Promise<void>;
  /** Ends all watches and releases all resources. Later calls throw StoreError "closed". */
  close(): Promise<void>;
}

/** A watch of one prefix. One consumer, one `next()` at a time. */
export interface StoreWatch extends AsyncIterable<WatchBatch> {
  /**
   * Everything up to this revision was in batches returned before the latest `next()`. The value also rises while that
   * call is pending, and when only other prefixes change. So a consumer that has handled its batches may announce it.
   */
  progress(): number;
}

/** A field and its value in an object. The index of a WatchInterest defines the names of fields. */
export interface EventTerm {
  readonly field: string;
  readonly value: string;
}

/** Reads the terms of events. Must be cheap and must not throw. */
export interface EventIndex {
  /** Whether the old or the new state has this term. True if the terms of a state cannot be read. */
  has(event: StoreEvent, term: EventTerm): boolean;
  /**
   * Calls `visit` with the terms of the old and of the new state, which may be the same. Returns false if the terms of a
   * state cannot be read.
   */
  visit(event: StoreEvent, visit: (field: string, value: string) => void): boolean;
}

/** What a watcher is interested in: events whose old or new state has all terms. At least one term. */
export interface WatchInterest {
  readonly index: EventIndex;
  readonly terms: readonly EventTerm[];
}

/** Events of one prefix in order, and the revision up to which the prefix is completely known. */
export interface WatchBatch {
  readonly events: readonly StoreEvent[];
  readonly revision: number;
}

/** Operations of a store, as the etcd metrics of kube-apiserver name them. */
export type MeasuredOperation = "get" | "list" | "create" | "update" | "delete" | "getCurrentResourceVersion";

/** Receives the outcome and duration of requests that a store has sent to its backend. */
export interface RequestObserver {
  readonly clock: Pick<Clock, "monotonic">;
  /** `key` is the key or the listed prefix; empty for other operations. */
  requestEnded(operation: MeasuredOperation, key: string, seconds: number, isFailed: boolean): void;
}

/** Why an operation failed. The set is closed: `resources/model/store-errors.ts` translates every member. */
export type StoreErrorCode =
  | "compacted"
  | "future-revision"
  | "unavailable"
  | "timeout"
  | "too-large"
  | "no-space"
  | "closed";

/** Thrown when a store operation fails. Failed preconditions are results, not errors. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** "compacted": the oldest revision still kept. "future-revision": the newest revision. */
  readonly revision: number;

  constructor(code: StoreErrorCode, message: string, options: { revision?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "StoreError";
    this.code = code;
    this.revision = options.revision ?? 0;
  }
}
