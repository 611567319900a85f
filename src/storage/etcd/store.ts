import { type Clock, systemClock } from "../../base/util/clock.ts";
import type { CompactionSource, FeedSource, ProgressSource } from "../cache-feed.ts";
import type { CompactedStore, Turn } from "../compactor.ts";
import {
  type Entry,
  type GetOptions,
  type ListOptions,
  type MeasuredOperation,
  type Page,
  type PutOptions,
  type RequestObserver,
  type Store,
  StoreError,
  type StoreWatch,
  type WatchBatch,
  type WriteResult,
} from "../store.ts";
import { trackProgress } from "../tracked-watch.ts";
import { Channel, type ChannelOptions } from "./channel.ts";
import { EtcdClient } from "./client.ts";
import { connectFrames } from "./connect-frames.ts";
import { isCompacted, isLeaseGone, toStoreError } from "./errors.ts";
import { connectHttp2 } from "./http2-connection.ts";
import { prefixRange, prefixRangeAfter } from "./key-range.ts";
import { Leases } from "./leases.ts";
import { encodeRange, type Operation, type RangeRequest, type RangeResponse } from "./messages.ts";
import type { GrpcError } from "./transport.ts";
import { type WatchedRange, WatchStream } from "./watch-stream.ts";
import { conditionalWrite } from "./write.ts";

/** How to reach etcd, and timeouts. */
export interface EtcdStoreOptions extends ChannelOptions {
  /** Time limit for one call, retries included. Default: 10 s. */
  readonly requestTimeoutMs?: number;
  /**
   * Key that is read to learn the newest revision. The user needs read access to it; it need not exist. Default:
   * `/registry/health`.
   */
  readonly probeKey?: string;
  /** "frames" (default) is our own small HTTP/2 client; "http2" is Node's, slower but complete. */
  readonly transport?: "frames" | "http2";
  readonly clock?: Clock;
  /** Measures reads. Writes are measured by ObservedStore. */
  readonly observer?: RequestObserver;
}

const REACH_TIMEOUT_MS = 3000;
const REACH_PAUSE_MS = 50;
const PAGE_ENTRIES = 10_000;
const LIST_PATIENCE = 6;

/**
 * A Store backed by an etcd cluster. Keys are etcd's keys. A write whose outcome cannot be determined, because the
 * connection or the member was lost, fails with "unavailable" or "timeout" and may have happened.
 */
export class EtcdStore implements Store, ProgressSource, CompactionSource, FeedSource, CompactedStore {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #leases: Leases;
  readonly #observer: RequestObserver | undefined;
  readonly #timeoutMs: number;
  readonly #probeKey: string;
  readonly #watches = new Set<WatchStream>();
  readonly #closing = new AbortController();
  #outage: ((error: unknown) => void) | undefined;

  constructor(options: EtcdStoreOptions) {
    const connect = options.transport === "http2" ? connectHttp2 : connectFrames;
    this.#timeoutMs = options.requestTimeoutMs ?? 10_000;
    this.#probeKey = options.probeKey ?? "/registry/health";
    const probe = { path: "/etcdserverpb.KV/Range", request: encodeRange({ key: this.#probeKey, countOnly: true }) };
    const silenceChanged = (error: GrpcError | undefined) => this.#outage?.(error && toStoreError(error));
    this.#client = new EtcdClient(new Channel(connect, { probe, silenceChanged, ...options }));
    const grant = async (ttlSeconds: number) => (await this.#client.grantLease(ttlSeconds, this.#timeoutMs)).id;
    this.#clock = options.clock ?? systemClock;
    this.#leases = new Leases(grant, this.#clock);
    this.#observer = options.observer;
  }

  onOutage(listener: (error: unknown) => void): void {
    this.#outage = listener;
  }

  async get(key: string, options: GetOptions = {}): Promise<Entry | undefined> {
    const serializable = options.minRevision === 0;
    const read = () => this.#rangeReaching({ key, serializable }, options.minRevision ?? 0);
    return (await this.#measured("get", key, read)).entries[0];
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    for (;;) {
      try {
        return await this.#measured("list", prefix, () => this.#listOnce(prefix, options));
      } catch (error) {
        // A list without a revision whose pages were overtaken by a compaction can start over.
        if (options.revision !== undefined || !(error instanceof StoreError) || error.code !== "compacted") throw error;
      }
    }
  }

  async put(key: string, value: Uint8Array, expected: number, options: PutOptions = {}): Promise<WriteResult> {
    const { ttlSeconds } = options;
    if (ttlSeconds === undefined) return this.#write(key, expected, { type: "put", key, value });
    for (let attempt = 1; ; attempt++) {
      const lease = await this.#call(() => this.#leases.leaseFor(Math.max(1, Math.ceil(ttlSeconds))));
      try {
        return await this.#write(key, expected, { type: "put", key, value, lease });
      } catch (error) {
        const isGone = error instanceof StoreError && isLeaseGone(error.cause);
        if (!isGone || attempt === 3) throw error;
        this.#leases.forget(Math.max(1, Math.ceil(ttlSeconds)));
      }
    }
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    if (expected === 0) return { ok: false, current: await this.get(key) };
    return this.#write(key, expected, { type: "delete", key });
  }

  watch(prefix: string, revision: number, signal: AbortSignal): StoreWatch {
    this.#requireOpen();
    return trackProgress(this.#watch(prefixRange(prefix), revision, signal), revision);
  }

  /** Like `watch`, but events have no `previous`, which costs etcd and the network less. */
  feed(prefix: string, revision: number, signal: AbortSignal): AsyncIterable<WatchBatch> {
    this.#requireOpen();
    return this.#watch({ ...prefixRange(prefix), withoutPrevious: true }, revision, signal);
  }

  async revision(): Promise<number> {
    const read = () => this.#range({ key: this.#probeKey, countOnly: true });
    return (await this.#measured("getCurrentResourceVersion", "", read)).revision;
  }

  async compact(revision: number): Promise<void> {
    try {
      await this.#call(() => this.#client.compact(revision, this.#timeoutMs));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === "future-revision") throw await this.#futureRevision(revision);
      if (error.code !== "compacted") throw error;
    }
  }

  /** If its outcome is unknown, it fails like any write and is not repeated. */
  putAtVersion(key: string, value: Uint8Array, version: number): Promise<Turn> {
    return this.#call(() => this.#client.putAtVersion(key, value, version, this.#timeoutMs));
  }

  /** Makes every open watch report its progress by an empty batch. */
  requestProgress(): void {
    for (const watch of this.#watches) watch.requestProgress();
  }

  /** The oldest revision that etcd still keeps; 0 if it was never compacted. */
  async compactedRevision(): Promise<number> {
    // etcd only reports this revision when it rejects a watch, so try to watch from the beginning.
    const stop = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timeoutMs)]);
    const watch = new WatchStream(this.#client, { key: this.#probeKey }, 0, stop);
    // A watch that is still catching up ignores progress requests, so they are repeated.
    const asking = setInterval(() => watch.requestProgress(), 100);
    try {
      for await (const _ of watch.batches()) return 0;
    } catch (error) {
      if (error instanceof StoreError && error.code === "compacted") return error.revision;
      throw error;
    } finally {
      clearInterval(asking);
    }
    this.#requireOpen();
    throw new StoreError("timeout", "etcd did not report its compacted revision in time");
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#client.close();
  }

  async *#watch(range: WatchedRange, revision: number, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    const watch = new WatchStream(this.#client, range, revision, AbortSignal.any([signal, this.#closing.signal]));
    this.#watches.add(watch);
    try {
      yield* watch.batches();
    } finally {
      this.#watches.delete(watch);
    }
  }

  #write(key: string, expected: number, success: Operation): Promise<WriteResult> {
    const request = { key, expected, success };
    return this.#call(() => conditionalWrite(this.#client, request, this.#timeoutMs));
  }

  async #listOnce(prefix: string, options: ListOptions): Promise<Page> {
    const { after, limit = 0, minRevision } = options;
    const range = after === undefined ? prefixRange(prefix) : prefixRangeAfter(prefix, after);
    if (range === undefined) return this.#emptyPage(options);
    const first: RangeRequest = { ...range, limit: limit || PAGE_ENTRIES, revision: options.revision };
    const serializable = minRevision === 0;
    let page = await this.#rangeReaching({ ...first, serializable }, options.revision ?? minRevision ?? 0);
    const revision = options.revision ?? page.revision;
    const remaining = page.count - page.entries.length;
    if (limit !== 0) return { entries: page.entries, revision, remaining };
    const entries = page.entries;
    while (page.more) {
      const next = prefixRangeAfter(prefix, entries.at(-1)?.key ?? "");
      if (next === undefined) break;
      page = await this.#range({ ...next, limit: PAGE_ENTRIES, revision });
      for (const entry of page.entries) entries.push(entry);
    }
    return { entries, revision, remaining: 0 };
  }

  /** The page is empty, but the requested revision must exist. */
  async #emptyPage(options: ListOptions): Promise<Page> {
    const { revision, minRevision = 0 } = options;
    const probe = await this.#rangeReaching(
      { key: this.#probeKey, countOnly: true, revision },
      revision ?? minRevision,
    );
    return { entries: [], revision: revision ?? probe.revision, remaining: 0 };
  }

  /** A range at least as new as `minRevision`. Waits up to 3 s for that revision. */
  async #rangeReaching(request: RangeRequest, minRevision: number): Promise<RangeResponse> {
    const deadlineMs = this.#clock.monotonic() + REACH_TIMEOUT_MS;
    for (;;) {
      try {
        const response = await this.#range(request);
        if (response.revision >= minRevision) return response;
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== "future-revision") throw error;
      }
      if (this.#clock.monotonic() >= deadlineMs) throw await this.#futureRevision(minRevision);
      await this.#clock.sleep(REACH_PAUSE_MS);
    }
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    this.#requireOpen();
    try {
      // Pages may be large, so lists get more time.
      const isPage = request.rangeEnd !== undefined;
      return await this.#client.range(request, isPage ? this.#timeoutMs * LIST_PATIENCE : this.#timeoutMs);
    } catch (error) {
      this.#requireOpen();
      if (isCompacted(error)) throw await this.#compacted(request.revision ?? 0, error);
      throw toStoreError(error);
    }
  }

  async #measured<Result>(operation: MeasuredOperation, key: string, read: () => Promise<Result>): Promise<Result> {
    const observer = this.#observer;
    if (observer === undefined) return read();
    const startMs = observer.clock.monotonic();
    let isFailed = true;
    try {
      const result = await read();
      isFailed = false;
      return result;
    } finally {
      observer.requestEnded(operation, key, (observer.clock.monotonic() - startMs) / 1000, isFailed);
    }
  }

  async #call<Result>(action: () => Promise<Result>): Promise<Result> {
    this.#requireOpen();
    try {
      return await action();
    } catch (error) {
      this.#requireOpen();
      throw toStoreError(error);
    }
  }

  async #compacted(revision: number, cause: unknown): Promise<StoreError> {
    const oldest = await this.compactedRevision();
    const message = `revision ${revision} has been compacted, the oldest is ${oldest}`;
    return new StoreError("compacted", message, { revision: oldest, cause });
  }

  async #futureRevision(revision: number): Promise<StoreError> {
    const newest = await this.revision();
    const message = `revision ${revision} is not reached yet, the newest is ${newest}`;
    return new StoreError("future-revision", message, { revision: newest });
  }

  #requireOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreError("closed", "the store is closed");
  }
}
