import assert from "node:assert/strict";
import type { Entry } from "../store.ts";
import { bytes, collect, create, keysOf, rejectsWith, remove, type StoreTest, text, update } from "./steps.suite.ts";

/** Contract tests of lists. */
export const listTests: readonly StoreTest[] = [
  [
    "lists a prefix in byte order and nothing else",
    async (store, prefix) => {
      const names = ["b", "a/b", "a", "a-b", "B", "ab", "\u{1f600}", "\uffee", "ü"];
      for (const name of names) await create(store, `${prefix}in/${name}`, name);
      await create(store, `${prefix}in`, "the folder itself");
      await create(store, `${prefix}inner/x`, "a neighbour");
      const page = await store.list(`${prefix}in/`);
      const sorted = names.map((name) => `${prefix}in/${name}`).sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
      assert.deepEqual(keysOf(page), sorted);
      assert.equal(page.remaining, 0);
      assert.equal(page.revision, await store.revision());
    },
  ],
  [
    "keeps /a/ and /ab/ apart",
    async (store, prefix) => {
      const start = await store.revision();
      await create(store, `${prefix}a/1`, "x");
      await create(store, `${prefix}ab/1`, "x");
      assert.deepEqual(keysOf(await store.list(`${prefix}a/`)), [`${prefix}a/1`]);
      assert.deepEqual(keysOf(await store.list(`${prefix}a`)), [`${prefix}a/1`, `${prefix}ab/1`]);
      await create(store, `${prefix}a/2`, "x");
      const events = await collect(store, `${prefix}a/`, start, { count: 2 });
      assert.deepEqual(
        events.map((event) => event.key),
        [`${prefix}a/1`, `${prefix}a/2`],
      );
    },
  ],
  [
    "pages with after, limit and remaining",
    async (store, prefix) => {
      for (let i = 0; i < 10; i++) await create(store, `${prefix}k${i}`, `${i}`);
      const first = await store.list(prefix, { limit: 4 });
      assert.deepEqual(
        keysOf(first),
        [0, 1, 2, 3].map((i) => `${prefix}k${i}`),
      );
      assert.equal(first.remaining, 6);
      const second = await store.list(prefix, { limit: 4, after: `${prefix}k3`, revision: first.revision });
      assert.deepEqual(
        keysOf(second),
        [4, 5, 6, 7].map((i) => `${prefix}k${i}`),
      );
      assert.equal(second.remaining, 2);
      const third = await store.list(prefix, { limit: 4, after: `${prefix}k7`, revision: first.revision });
      assert.deepEqual(
        keysOf(third),
        [8, 9].map((i) => `${prefix}k${i}`),
      );
      assert.equal(third.remaining, 0);
      const exact = await store.list(prefix, { limit: 10 });
      assert.equal(exact.entries.length, 10);
      assert.equal(exact.remaining, 0);
      const all = await store.list(prefix, { limit: 0, after: `${prefix}k5` });
      assert.deepEqual(
        keysOf(all),
        [6, 7, 8, 9].map((i) => `${prefix}k${i}`),
      );
      const between = await store.list(prefix, { after: `${prefix}k8x` });
      assert.deepEqual(keysOf(between), [`${prefix}k9`]);
      assert.equal((await store.list(prefix, { after: `${prefix}z` })).entries.length, 0);
      assert.equal((await store.list(`${prefix}none/`, { limit: 5 })).remaining, 0);
    },
  ],
  [
    "lists the state at an exact past revision after later writes and deletes",
    async (store, prefix) => {
      const one = await create(store, `${prefix}a`, "a1");
      const two = await create(store, `${prefix}b`, "b1");
      const three = await update(store, `${prefix}a`, "a2", one);
      await remove(store, `${prefix}b`, two);
      await create(store, `${prefix}c`, "c1");
      const at = async (revision: number): Promise<unknown[]> => {
        const page = await store.list(prefix, { revision });
        assert.equal(page.revision, revision);
        return page.entries.map((entry) => [text(entry.value), entry.createRevision, entry.modRevision]);
      };
      assert.deepEqual(await at(one), [["a1", one, one]]);
      assert.deepEqual(await at(two), [
        ["a1", one, one],
        ["b1", two, two],
      ]);
      assert.deepEqual(await at(three), [
        ["a2", one, three],
        ["b1", two, two],
      ]);
      const paged = await store.list(prefix, { revision: two, limit: 1 });
      assert.deepEqual([keysOf(paged), paged.remaining], [[`${prefix}a`], 1]);
      const rest = await store.list(prefix, { revision: two, limit: 1, after: `${prefix}a` });
      assert.deepEqual([keysOf(rest), rest.remaining], [[`${prefix}b`], 0]);
    },
  ],
  [
    "accepts any state that is new enough",
    async (store, prefix) => {
      const revision = await create(store, `${prefix}a`, "x");
      for (const minRevision of [revision - 1, revision]) {
        const page = await store.list(prefix, { minRevision });
        assert.ok(page.revision >= minRevision);
        assert.equal((await store.get(`${prefix}a`, { minRevision: revision }))?.modRevision, revision);
      }
      const any = await store.list(prefix, { minRevision: 0 });
      assert.ok(any.entries.length <= 1);
      await store.get(`${prefix}a`, { minRevision: 0 });
    },
  ],
  [
    "has a consistent state in memory",
    async (store, prefix) => {
      const revision = await create(store, `${prefix}a`, "x");
      // A read of the newest state also brings the state in memory up to date.
      await store.get(`${prefix}a`);
      const held = store.snapshot?.(prefix);
      if (held === undefined) return;
      assert.equal(held.get(`${prefix}a`)?.modRevision, revision);
      assert.deepEqual(keysOf(held.list(prefix)), [`${prefix}a`]);
    },
  ],
  [
    "does not change a slice of the state in memory",
    async (store, prefix) => {
      const a = await create(store, `${prefix}a`, "x");
      const b = await create(store, `${prefix}b`, "x");
      const { revision } = await store.list(prefix);
      const held = store.snapshot?.(prefix);
      if (held === undefined) return;
      const now = held.slice(prefix, { revision });
      const past = held.slice(prefix, { revision: a });
      const rest = held.slice(prefix, { revision, after: `${prefix}a` });
      await update(store, `${prefix}a`, "y", a);
      await remove(store, `${prefix}b`, b);
      await store.list(prefix);
      const keysAndRevisions = (entries: Iterable<Entry> | undefined) =>
        entries && [...entries].map((entry) => [entry.key.slice(prefix.length), entry.modRevision]);
      assert.deepEqual(keysAndRevisions(now), [
        ["a", a],
        ["b", b],
      ]);
      // A cache loaded later may not have this revision.
      if (past) assert.deepEqual(keysAndRevisions(past), [["a", a]]);
      assert.deepEqual(keysAndRevisions(rest), [["b", b]]);
      assert.equal(held.slice(prefix, { revision: revision + 1000 }), undefined);
    },
  ],
  [
    "waits for a revision that is not reached yet",
    async (store, prefix) => {
      const revision = await create(store, `${prefix}a`, "x");
      const waiting = store.list(prefix, { minRevision: revision + 1 });
      const reading = store.get(`${prefix}a`, { minRevision: revision + 1 });
      // A read that does not wait would have completed by now.
      for (let i = 0; i < 3; i++) await store.get(`${prefix}a`);
      await update(store, `${prefix}a`, "y", revision);
      assert.ok((await waiting).revision >= revision + 1);
      assert.equal(text((await reading)?.value), "y");
    },
  ],
  [
    "refuses a revision that does not come",
    async (store, prefix) => {
      const current = await create(store, `${prefix}a`, "x");
      const errors = await Promise.all([
        rejectsWith("future-revision", () => store.list(prefix, { revision: current + 1000 })),
        rejectsWith("future-revision", () => store.list(prefix, { minRevision: current + 1000 })),
        rejectsWith("future-revision", async () => store.get(`${prefix}a`, { minRevision: current + 1000 })),
      ]);
      for (const error of errors) assert.ok(error.revision >= current && error.revision < current + 1000);
    },
  ],
  [
    "rejects lists before the compacted revision and serves those from it on",
    async (store, prefix) => {
      const one = await create(store, `${prefix}a`, "a1");
      const two = await update(store, `${prefix}a`, "a2", one);
      const three = await update(store, `${prefix}a`, "a3", two);
      const four = await create(store, `${prefix}b`, "b1");
      await store.compact(three);
      const error = await rejectsWith("compacted", () => store.list(prefix, { revision: two }));
      assert.equal(error.revision, three);
      assert.equal(text((await store.list(prefix, { revision: three })).entries[0]?.value), "a3");
      assert.equal((await store.list(prefix, { revision: three })).entries.length, 1);
      assert.equal((await store.list(prefix, { revision: four })).entries.length, 2);
      assert.equal((await store.list(prefix)).entries.length, 2);
      await store.compact(two);
      await store.compact(three);
      assert.equal((await store.list(prefix, { revision: three })).entries.length, 1, "compacting again does no harm");
    },
  ],
];
