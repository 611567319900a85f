import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../../test/support/time.ts";
import { CachedStore } from "./cached-store.ts";
import { MemoryStore } from "./memory.ts";
import type { StoreWatch as Watch } from "./store.ts";
import { type Entry, type ListOptions, type Page, type Store, StoreError, type WatchBatch } from "./store.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function write(store: Store, key: string, expected = 0): Promise<number> {
  const result = await store.put(key, bytes(`${key} after ${expected}`), expected);
  assert.ok(result.ok);
  return result.revision;
}

/** A memory store that counts reads and, on command, responds slowly and loses watches. */
class Remote extends MemoryStore {
  reads = 0;
  listing: Promise<void> = Promise.resolve();
  compacted = 0;
  #watches = new AbortController();
  #failure: Error | undefined;

  override async get(...args: Parameters<Store["get"]>): Promise<Entry | undefined> {
    this.reads++;
    return super.get(...args);
  }

  override async list(prefix: string, options?: ListOptions): Promise<Page> {
    this.reads++;
    await this.listing;
    return super.list(prefix, options);
  }

  override watch(prefix: string, revision: number, signal: AbortSignal): Watch {
    const { signal: broken } = this.#watches;
    const watch = super.watch(prefix, revision, AbortSignal.any([signal, broken])) as Watch;
    const failure = () => (broken.aborted ? this.#failure : undefined);
    async function* iterate(): AsyncGenerator<WatchBatch> {
      yield* watch;
      const error = failure();
      if (error !== undefined) throw error;
    }
    return { progress: () => watch.progress(), [Symbol.asyncIterator]: iterate };
  }

  breakWatches(failure?: Error): void {
    this.#failure = failure;
    this.#watches.abort();
    this.#watches = new AbortController();
  }

  async compactedRevision(): Promise<number> {
    return this.compacted;
  }
}

async function open(
  t: { after: (fn: () => Promise<void>) => void },
  options: Partial<ConstructorParameters<typeof CachedStore>[1]> = {},
  prepare: (remote: Remote) => Promise<unknown> = async () => undefined,
): Promise<{ remote: Remote; store: CachedStore }> {
  const remote = new Remote();
  await prepare(remote);
  const store = new CachedStore(remote, { prefix: "/in/", freshnessMs: 300, ...options });
  t.after(() => store.close());
  return { remote, store };
}

/** Collects revisions until stopped. */
function follow(
  store: Store,
  revision: number,
): { seen: number[]; end: () => Promise<void>; failed: Promise<unknown> } {
  const abort = new AbortController();
  const seen: number[] = [];
  const done = (async () => {
    for await (const batch of store.watch("/in/", revision, abort.signal)) {
      seen.push(...batch.events.map((event) => event.revision));
    }
  })();
  const failed = done.then(
    () => undefined,
    (error: unknown) => error,
  );
  const end = async () => {
    abort.abort();
    await done;
  };
  return { seen, end, failed };
}

describe("CachedStore", () => {
  it("loads in pages at one revision and then reads nothing from the remote", async (t) => {
    const { remote, store } = await open(t, { pageEntries: 3 }, async (r) => {
      for (let i = 0; i < 10; i++) await write(r, `/in/${i}`);
    });
    assert.equal(store.isReady, false);
    await store.ready;
    assert.ok(store.isReady);
    assert.equal(remote.reads, 4);
    assert.equal((await store.list("/in/")).entries.length, 10);
    assert.equal((await store.get("/in/7"))?.key, "/in/7");
    assert.equal((await store.list("/in/", { minRevision: 0, limit: 2 })).remaining, 8);
    assert.equal(remote.reads, 4);
  });

  it("lets reads wait for the load, but not forever", async (t) => {
    const loading = Promise.withResolvers<void>();
    const { store } = await open(t, {}, async (remote) => {
      await write(remote, "/in/a");
      remote.listing = loading.promise;
    });
    await assert.rejects(store.get("/in/a", { minRevision: 0 }), isStoreError("unavailable"));
    const reading = store.get("/in/a");
    loading.resolve();
    assert.equal((await reading)?.key, "/in/a");
  });

  it("reads from the remote if the watch does not bring the cache up to date", async (t) => {
    const silence = Promise.withResolvers<void>();
    class Silent extends MemoryStore {
      override watch(prefix: string, revision: number, signal: AbortSignal): Watch {
        const watch = super.watch(prefix, revision, signal);
        async function* iterate(): AsyncGenerator<WatchBatch> {
          await silence.promise;
          yield* watch;
        }
        return { progress: () => revision, [Symbol.asyncIterator]: iterate };
      }
    }
    const remote = new Silent();
    const store = new CachedStore(remote, { prefix: "/in/", freshnessMs: 50 });
    t.after(() => store.close());
    await store.ready;
    const revision = await write(remote, "/in/a");
    assert.equal((await store.get("/in/a"))?.modRevision, revision);
    const page = await store.list("/in/", { limit: 1 });
    assert.deepEqual([page.revision, page.entries.length], [revision, 1]);
    assert.deepEqual(
      (await store.list("/in/", { minRevision: 0 })).entries,
      [],
      "who wants any state gets the cache's",
    );
    await assert.rejects(store.list("/in/", { minRevision: revision }), isStoreError("future-revision"));
    silence.resolve();
    assert.equal((await store.list("/in/", { minRevision: revision })).entries.length, 1);
  });

  it("sees writes of other clients of the remote, also outside of the prefix", async (t) => {
    const { remote, store } = await open(t);
    await store.ready;
    for (let i = 0; i < 20; i++) {
      const revision = await write(remote, `/in/${i}`);
      assert.equal((await store.get(`/in/${i}`))?.modRevision, revision);
      await write(remote, `/out/${i}`);
      assert.ok((await store.list("/in/")).revision >= revision);
    }
  });

  it("passes keys outside of the prefix to the remote", async (t) => {
    const { remote, store } = await open(t);
    await store.ready;
    const start = await store.revision();
    const revision = await write(store, "/out/a");
    const before = remote.reads;
    assert.equal((await store.get("/out/a"))?.modRevision, revision);
    assert.equal((await store.list("/")).entries.length, 1);
    assert.equal((await store.list("/in")).entries.length, 0);
    assert.equal(remote.reads, before + 3);
    for await (const batch of store.watch("/out/", start, new AbortController().signal)) {
      assert.equal(batch.events[0]?.revision, revision);
      break;
    }
  });

  it("reads the remote's history where its own does not reach", async (t) => {
    const early: number[] = [];
    const { store } = await open(t, {}, async (remote) => {
      for (let i = 0; i < 5; i++) early.push(await write(remote, "/in/a", early.at(-1)));
    });
    await store.ready;
    const page = await store.list("/in/", { revision: early[1] });
    assert.deepEqual([page.entries[0]?.modRevision, page.revision], [early[1], early[1]]);
    const { seen, end } = follow(store, early[0] ?? 0);
    await eventually(() => seen.length === 4);
    const late = await write(store, "/in/b");
    await eventually(() => seen.length === 5);
    await end();
    assert.deepEqual(seen, [...early.slice(1), late]);
  });

  it("keeps a bounded history and falls back to the remote's history before it", async (t) => {
    const { remote, store } = await open(t, { maxEvents: 10 });
    await store.ready;
    const start = await store.revision();
    const revisions: number[] = [];
    for (let i = 0; i < 50; i++) revisions.push(await write(store, `/in/${i}`));
    await store.get("/in/1");
    const before = remote.reads;
    assert.equal((await store.list("/in/", { revision: revisions[49] })).entries.length, 50);
    assert.equal(remote.reads, before, "from memory");
    assert.equal((await store.list("/in/", { revision: revisions[9] })).entries.length, 10);
    assert.equal(remote.reads, before + 1, "from the remote");
    const { seen, end } = follow(store, start);
    await eventually(() => seen.length === 50);
    revisions.push(await write(store, "/in/last"));
    await eventually(() => seen.length === 51);
    await end();
    assert.deepEqual(seen, revisions);
  });

  it("resumes where it was when the remote's watch breaks", async (t) => {
    const { remote, store } = await open(t, { freshnessMs: 2000 });
    await store.ready;
    const { seen, end } = follow(store, await store.revision());
    const revisions: number[] = [];
    for (let i = 0; i < 3; i++) {
      revisions.push(await write(remote, `/in/before-${i}`));
      remote.breakWatches(i === 0 ? undefined : new StoreError("unavailable", "lost"));
      revisions.push(await write(remote, `/in/after-${i}`));
      assert.equal((await store.list("/in/")).entries.length, revisions.length);
    }
    await eventually(() => seen.length === revisions.length);
    await end();
    assert.deepEqual(seen, revisions);
  });

  it("reloads and ends watches if the remote has compacted the next revision", async (t) => {
    const { remote, store } = await open(t, { freshnessMs: 2000 });
    await store.ready;
    const revision = await write(remote, "/in/a");
    await store.get("/in/a");
    const { seen, failed } = follow(store, revision - 1);
    await eventually(() => seen.length === 1);
    remote.breakWatches(new StoreError("compacted", "gone", { revision }));
    const newest = await write(remote, "/in/b");
    assert.equal((await store.get("/in/b"))?.modRevision, newest, "a read in between is answered by the new state");
    const error = await failed;
    assert.ok(error instanceof StoreError && error.code === "compacted" && error.revision >= revision);
    const again = follow(store, error.revision);
    const next = await write(remote, "/in/c");
    await eventually(() => again.seen.includes(next));
    await again.end();
  });

  it("detects that another client has compacted the remote", async (t) => {
    const { remote, store } = await open(t, { compactionPollMs: 5 });
    await store.ready;
    const first = await write(store, "/in/a");
    const second = await write(store, "/in/a", first);
    assert.equal((await store.list("/in/", { revision: first })).entries[0]?.modRevision, first);
    await remote.compact(second);
    remote.compacted = second;
    await eventually(() => store.list("/in/", { revision: first }).then(() => false, isStoreError("compacted")));
    assert.equal((await store.list("/in/", { revision: second })).entries[0]?.modRevision, second);
  });

  it("reports the progress of a watch, in memory and while it catches up", async (t) => {
    const { store } = await open(t, {}, async (remote) => {
      for (let i = 0; i < 3; i++) await write(remote, `/in/${i}`);
    });
    await store.ready;
    const abort = new AbortController();
    const watch = store.watch("/in/", 1, abort.signal);
    assert.ok("progress" in watch && typeof watch.progress === "function");
    assert.equal(watch.progress(), 1);
    const iterator = watch[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).value?.events.length, 3);
    assert.equal(watch.progress(), 1, "not before the reader comes back");
    const waiting = iterator.next();
    const revision = await write(store, "/out/x");
    await store.list("/in/");
    await eventually(() => watch.progress() === revision);
    abort.abort();
    assert.equal((await waiting).done, true);
  });
});

function isStoreError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}
