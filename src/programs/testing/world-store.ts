import type { Clock } from "../../base/util/clock.ts";
import { headerOf } from "../../data/encoding/reply/encoded-reply.ts";
import type { MemoryState, MemoryStore } from "../../storage/memory.ts";
import type {
  Entry,
  GetOptions,
  ListOptions,
  Page,
  PutOptions,
  Snapshot,
  Store,
  StoreWatch,
  WatchInterest,
  WriteResult,
} from "../../storage/store.ts";
import type { Activity } from "./activity.ts";
import { callers } from "./caller.ts";
import type { Journal } from "./journal.ts";

/** Parts of a test control plane that its store reports to. */
export interface WorldStoreOptions {
  readonly activity: Activity;
  readonly journal: Journal;
  readonly clock: Clock;
}

/** A memory store that records the author of each write, and serves past states to requests with a staleness fault. */
export class WorldStore implements Store {
  readonly #inner: MemoryStore;
  readonly #options: WorldStoreOptions;

  constructor(inner: MemoryStore, options: WorldStoreOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  freeze(): MemoryState {
    return this.#inner.freeze();
  }

  /** Undefined for requests that must read a past state, so that they use `get` and `list`. */
  snapshot(): Snapshot | undefined {
    return this.#staleRevision() === undefined ? this.#inner.snapshot() : undefined;
  }

  async get(key: string, options?: GetOptions): Promise<Entry | undefined> {
    this.#options.activity.move();
    const revision = this.#staleRevision();
    if (revision === undefined) return this.#inner.get(key, options);
    const { entries } = await this.#inner.list(key, { revision });
    return entries.find((entry) => entry.key === key);
  }

  list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#options.activity.move();
    const revision = this.#staleRevision();
    if (revision === undefined || options.revision !== undefined) return this.#inner.list(prefix, options);
    const { minRevision: _, ...rest } = options;
    return this.#inner.list(prefix, { ...rest, revision });
  }

  async put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    const previous = this.#inner.snapshot()?.get(key);
    const result = await this.#inner.put(key, value, expected, options);
    if (result.ok) this.#note(key, result.revision, previous, this.#inner.snapshot()?.get(key));
    return result;
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    const previous = this.#inner.snapshot()?.get(key);
    const result = await this.#inner.delete(key, expected);
    if (result.ok) this.#note(key, result.revision, previous, undefined);
    return result;
  }

  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    this.#options.activity.move();
    return this.#inner.watch(prefix, revision, signal, interest);
  }

  revision(): Promise<number> {
    return this.#inner.revision();
  }

  async compact(revision: number): Promise<void> {
    await this.#inner.compact(revision);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #staleRevision(): number | undefined {
    const by = callers.getStore()?.staleBy ?? 0;
    if (by === 0) return undefined;
    const snapshot = this.#inner.snapshot();
    return snapshot && Math.max(snapshot.revision - by, this.#inner.oldestRevision);
  }

  #note(key: string, revision: number, previous: Entry | undefined, entry: Entry | undefined): void {
    const { activity, journal, clock } = this.#options;
    activity.move();
    const call = callers.getStore()?.call;
    journal.add({
      ...{ key, revision, entry, previous, timeMs: clock.now() },
      // Writes without a request come from the server itself.
      user: call?.user.name ?? "system:apiserver",
      userAgent: call ? (headerOf(call.request.headers, "user-agent") ?? "") : "",
      verb: call?.info.verb ?? (previous ? "update" : "create"),
      subresource: call?.info.subresource ?? "",
    });
  }
}
