import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fc } from "../../test/support/random.ts";
import { Snapshots } from "./snapshots.ts";
import { type Entry, StoreError, type StoreEvent, type WatchBatch } from "./store.ts";
import { bytes, text } from "./suite/steps.suite.ts";

function change(revision: number, key: string, value: string | undefined): StoreEvent {
  const entry =
    value === undefined ? undefined : { key, value: bytes(value), createRevision: revision, modRevision: revision };
  return { revision, key, entry, previous: undefined };
}

function write(snapshots: Snapshots, key: string, value?: string): number {
  const revision = snapshots.revision + 1;
  snapshots.apply([change(revision, key, value)]);
  return revision;
}

function watchFrom(snapshots: Snapshots, prefix: string, revision: number) {
  const abort = new AbortController();
  const watch = snapshots.watch(prefix, revision, abort.signal);
  return { watch, abort, iterator: watch[Symbol.asyncIterator]() };
}

const pairs = (entries: readonly Entry[]): string[] => entries.map((entry) => `${entry.key}=${text(entry.value)}`);
const steps = (batch: WatchBatch): string[] => batch.events.map((event) => `${event.revision} ${event.key}`);
const isCompacted = (revision: number) => (error: unknown) =>
  error instanceof StoreError && error.code === "compacted" && error.revision === revision;

async function take(iterator: AsyncIterator<WatchBatch>): Promise<WatchBatch> {
  const result = await iterator.next();
  assert.ok(result.done !== true);
  return result.value;
}

describe("Snapshots state", () => {
  it("starts with entries and rejects reads of earlier revisions", async () => {
    const entry: Entry = { key: "/a", value: bytes("x"), createRevision: 3, modRevision: 7 };
    const snapshots = new Snapshots({ revision: 10, entries: [entry] });
    assert.equal(snapshots.get("/a"), entry);
    assert.deepEqual(snapshots.list("/").entries, [entry]);
    assert.throws(() => snapshots.list("/", { revision: 9 }), isCompacted(10));
    await assert.rejects(watchFrom(snapshots, "/", 9).iterator.next(), isCompacted(10));
    const { iterator } = watchFrom(snapshots, "/", 10);
    write(snapshots, "/a", "y");
    const batch = await take(iterator);
    assert.equal(batch.events[0]?.previous, entry, "the very entry, with whatever was kept with it");
  });

  it("rejects events that go back or come late", () => {
    const snapshots = new Snapshots({ revision: 5 });
    snapshots.apply([change(7, "/a", "x"), change(7, "/b", "x")], 9);
    assert.equal(snapshots.revision, 9);
    assert.throws(() => snapshots.apply([change(9, "/c", "x")]), RangeError);
    assert.throws(() => snapshots.apply([change(11, "/c", "x"), change(10, "/c", "y")]), RangeError);
    assert.throws(() => snapshots.apply([change(11, "/c", "x")], 10), RangeError);
    assert.equal(snapshots.get("/c"), undefined, "a rejected call changes nothing");
    write(snapshots, "/never-there");
    assert.equal(snapshots.eventCount, 2);
  });

  it("waits for a revision", async () => {
    const snapshots = new Snapshots({ revision: 5 });
    await snapshots.waitFor(5, 1);
    const waiting = snapshots.waitFor(8, 1000);
    snapshots.advance(7);
    snapshots.advance(8);
    await waiting;
    await assert.rejects(snapshots.waitFor(9, 5), { code: "future-revision", revision: 8 });
    const closed = assert.rejects(snapshots.waitFor(9, 1000), { code: "closed" });
    snapshots.close();
    await closed;
  });

  it("reads any kept revision like a model, also after compaction", () => {
    const key = fc.integer({ min: 0, max: 12 }).map((i) => `/k/${i}`);
    const writes = fc.array(fc.tuple(key, fc.option(fc.string({ maxLength: 3 }), { nil: undefined })), {
      maxLength: 80,
    });
    const run = fc.property(
      writes,
      fc.array(fc.nat(79), { maxLength: 30 }),
      fc.nat(79),
      (changes, reads, compactTo) => {
        const snapshots = new Snapshots({ revision: 0 });
        const model = new Map<string, string>();
        const states = [[] as string[]];
        for (const [name, value] of changes) {
          write(snapshots, name, value);
          if (value === undefined) model.delete(name);
          else model.set(name, value);
          states.push(
            [...model].map(([k, v]) => `${k}=${v}`).sort((a, b) => (a.split("=", 1) < b.split("=", 1) ? -1 : 1)),
          );
          const some = reads[states.length % Math.max(1, reads.length)] ?? 0;
          const past = snapshots.list("/", { revision: some % states.length, limit: 2 });
          assert.deepEqual(pairs(past.entries), states[some % states.length]?.slice(0, 2));
        }
        const oldest = Math.min(compactTo, changes.length);
        snapshots.compact(oldest);
        for (const read of reads.filter((revision) => revision <= changes.length)) {
          if (read < oldest) assert.throws(() => snapshots.list("/", { revision: read }), isCompacted(oldest));
          else assert.deepEqual(pairs(snapshots.list("/", { revision: read }).entries), states[read]);
        }
      },
    );
    fc.assert(run, { numRuns: 150 });
  });

  it("reads far back over checkpoints", () => {
    const snapshots = new Snapshots({ revision: 0 });
    for (let i = 1; i <= 20_000; i++) write(snapshots, `/k/${i % 100}`, `${i}`);
    const valueAt = (revision: number): string | undefined =>
      text(snapshots.list("/k/7", { revision, limit: 1 }).entries[0]?.value);
    for (const revision of [107, 5000, 4096, 8191, 8193, 12_345, 19_999, 20_000]) {
      assert.equal(valueAt(revision), String(revision - ((revision - 7) % 100)));
    }
    snapshots.compact(9000);
    assert.equal(valueAt(9000), "8907");
  });

  it("keeps the pages of one list consistent during writes", () => {
    const snapshots = new Snapshots({ revision: 0 });
    for (let i = 0; i < 10; i++) write(snapshots, `/k/${i}`, "old");
    const first = snapshots.list("/k/", { limit: 5 });
    for (let i = 0; i < 10; i++) write(snapshots, `/k/${i}`, i % 2 === 0 ? "new" : undefined);
    const second = snapshots.list("/k/", { limit: 5, after: "/k/4", revision: first.revision });
    assert.deepEqual(pairs(second.entries), ["/k/5=old", "/k/6=old", "/k/7=old", "/k/8=old", "/k/9=old"]);
  });
});

describe("Snapshots watches", () => {
  it("shows a slow watcher every change in order, without gaps or duplicates between old and new", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    for (let i = 0; i < 2500; i++) write(snapshots, `/${i % 2 === 0 ? "a" : "b"}/${i}`, "x");
    const { iterator } = watchFrom(snapshots, "/a/", 100);
    const seen: number[] = [];
    let largest = 0;
    while (snapshots.revision < 6000 || seen.at(-1) !== 5999) {
      const batch = await take(iterator);
      largest = Math.max(largest, batch.events.length);
      seen.push(...batch.events.map((event) => event.revision));
      for (let i = 0; i < 700 && snapshots.revision < 6000; i++) {
        write(snapshots, `/${snapshots.revision % 2 === 0 ? "a" : "b"}/n`, "x");
      }
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 2950 }, (_, i) => 101 + 2 * i),
    );
    assert.ok(largest <= 1000);
  });

  it("never splits the events of one revision", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    for (let revision = 1; revision <= 5; revision++) {
      snapshots.apply(Array.from({ length: 600 }, (_, i) => change(revision, `/${i}`, `${revision}`)));
    }
    const { iterator } = watchFrom(snapshots, "/", 0);
    const sizes: number[] = [];
    for (let seen = 0; seen < 3000; seen += sizes.at(-1) ?? 0) sizes.push((await take(iterator)).events.length);
    assert.deepEqual(sizes, [1200, 1200, 600]);
  });

  it("wakes only those of 5,000 watchers whose prefix changed", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    const woken: string[] = [];
    const { signal } = new AbortController();
    const watching = Array.from({ length: 5000 }, async (_, i) => {
      for await (const batch of snapshots.watch(`/pods/ns-${i}/`, 0, signal)) woken.push(`${i}: ${steps(batch)}`);
    });
    await turn();
    assert.equal(snapshots.watchedPrefixes, 5000);
    for (const namespace of [17, 4711, 1]) write(snapshots, `/pods/ns-${namespace}/a`, "x");
    for (let i = 0; i < 1000; i++) write(snapshots, `/configmaps/ns-${i}/a`, "x");
    await turn();
    assert.deepEqual(woken, ["17: 1 /pods/ns-17/a", "4711: 2 /pods/ns-4711/a", "1: 3 /pods/ns-1/a"]);
    snapshots.close();
    await Promise.all(watching);
    assert.equal(snapshots.watchedPrefixes, 0);
  });

  it("serves prefixes that end anywhere", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    const prefixes = ["", "/", "/a", "/a/", "/a/b", "/a/bc", "/a/b/c", "x", "/a/b/"];
    const watches = prefixes.map((prefix) => ({ prefix, ...watchFrom(snapshots, prefix, 0) }));
    const pending = watches.map(({ iterator }) => iterator.next());
    const keys = ["/a/b", "/a/bc", "/a/b/c", "/ab", "xyz", "/a/b/cd", "/", "y"];
    for (const key of keys) write(snapshots, key, "v");
    for (const [i, { prefix, iterator, abort }] of watches.entries()) {
      const result = await pending[i];
      assert.ok(result?.done === false);
      const expected = keys
        .map((key, index) => `${index + 1} ${key}`)
        .filter((step) => step.slice(2).startsWith(prefix));
      assert.deepEqual(steps(result.value), expected, `live on "${prefix}"`);
      const again = watchFrom(snapshots, prefix, 0);
      assert.deepEqual(steps(await take(again.iterator)), expected, `caught up on "${prefix}"`);
      await again.iterator.return?.();
      abort.abort();
      assert.equal((await iterator.next()).done, true);
    }
    assert.equal(snapshots.watchedPrefixes, 0);
  });

  it("lets a second watcher of a prefix start earlier than the first", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    for (let i = 0; i < 5; i++) write(snapshots, `/a/${i}`, "x");
    const late = watchFrom(snapshots, "/a/", 4);
    assert.deepEqual(steps(await take(late.iterator)), ["5 /a/4"]);
    const early = watchFrom(snapshots, "/a/", 1);
    assert.equal((await take(early.iterator)).events.length, 4);
    write(snapshots, "/a/5", "x");
    assert.deepEqual(steps(await take(late.iterator)), ["6 /a/5"]);
    assert.deepEqual(steps(await take(early.iterator)), ["6 /a/5"]);
  });

  it("releases the log of a prefix on abort, on return and on error", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    const waiting = watchFrom(snapshots, "/a/", 0);
    const ended = waiting.iterator.next();
    assert.equal(snapshots.watchedPrefixes, 1);
    waiting.abort.abort();
    assert.equal((await ended).done, true);
    assert.equal(snapshots.watchedPrefixes, 0);
    write(snapshots, "/a/1", "x");
    for await (const batch of snapshots.watch("/a/", 0, new AbortController().signal)) {
      assert.equal(batch.revision, 1);
      break;
    }
    assert.equal(snapshots.watchedPrefixes, 0);
    const failing = watchFrom(snapshots, "/a/", 1);
    const failed = assert.rejects(failing.iterator.next(), { code: "unavailable" });
    snapshots.close(new StoreError("unavailable", "gone"));
    await failed;
    assert.equal(snapshots.watchedPrefixes, 0);
    assert.equal((await failing.iterator.next()).done, true);
    assert.throws(() => snapshots.watch("/", 0, failing.abort.signal), { code: "unavailable" });
  });

  it("compacts as in the example of its doc comment", async () => {
    const newHistory = (): Snapshots => {
      const snapshots = new Snapshots({ revision: 0 });
      for (const [revision, value] of [
        [2, "two"],
        [5, "five"],
        [9, undefined],
      ] as const) {
        snapshots.apply([change(revision, "/k", value)]);
      }
      snapshots.advance(12);
      return snapshots;
    };
    const five = newHistory();
    assert.deepEqual(
      five.compact(5).map((event) => event.revision),
      [2],
    );
    assert.throws(() => five.list("/", { revision: 4 }), isCompacted(5));
    assert.deepEqual(pairs(five.list("/", { revision: 5 }).entries), ["/k=five"]);
    await assert.rejects(watchFrom(five, "/", 3).iterator.next(), isCompacted(5));
    const batch = await take(watchFrom(five, "/", 4).iterator);
    assert.deepEqual(steps(batch), ["5 /k", "9 /k"]);
    assert.equal(text(batch.events[0]?.previous?.value), "two");
    const nine = newHistory();
    nine.compact(9);
    assert.deepEqual(nine.list("/", { revision: 9 }).entries, []);
    assert.deepEqual(steps(await take(watchFrom(nine, "/", 8).iterator)), ["9 /k"]);
    const ten = newHistory();
    ten.compact(10);
    assert.equal(ten.eventCount, 0);
    assert.deepEqual(ten.compact(3), []);
    assert.throws(() => ten.compact(13), { code: "future-revision", revision: 12 });
  });

  it("fails a watcher that compaction overtook, but not one that had read everything of its prefix", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    write(snapshots, "/slow/1", "x");
    write(snapshots, "/idle/1", "x");
    const slow = watchFrom(snapshots, "/slow/", 0);
    const idle = watchFrom(snapshots, "/idle/", 0);
    await take(slow.iterator);
    await take(idle.iterator);
    write(snapshots, "/slow/2", "x");
    for (let i = 0; i < 10; i++) write(snapshots, "/other", `${i}`);
    snapshots.compact(10);
    await assert.rejects(slow.iterator.next(), isCompacted(10));
    const next = take(idle.iterator);
    write(snapshots, "/idle/2", "x");
    assert.deepEqual(steps(await next), ["14 /idle/2"]);
  });

  it("reports the progress of a watcher, never ahead of what its consumer has taken", async () => {
    const snapshots = new Snapshots({ revision: 0 });
    const { watch, iterator } = watchFrom(snapshots, "/a/", 0);
    assert.equal(watch.progress(), 0);
    const pending = iterator.next();
    write(snapshots, "/b/1", "x");
    assert.equal(watch.progress(), 1, "others moved while it waits");
    write(snapshots, "/a/1", "x");
    assert.equal(watch.progress(), 0, "there is something it has not taken");
    await pending;
    assert.equal(watch.progress(), 0, "the batch is out, but may not be processed");
    const next = iterator.next();
    assert.equal(watch.progress(), 2);
    snapshots.advance(50);
    assert.equal(watch.progress(), 50);
    await assert.rejects(iterator.next(), TypeError);
    await iterator.return?.();
    assert.equal((await next).done, true);
  });
});
