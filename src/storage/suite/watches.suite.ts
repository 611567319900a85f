import assert from "node:assert/strict";
import { eventually } from "../../../test/support/time.ts";
import {
  bytes,
  collect,
  create,
  plain,
  rejectsWith,
  remove,
  type StoreTest,
  text,
  update,
  WatchReader,
} from "./steps.suite.ts";

/** Contract tests of watches and of closing. */
export const watchTests: readonly StoreTest[] = [
  [
    "watches from an old revision and continues with new changes",
    async (store, prefix) => {
      const start = await store.revision();
      const one = await create(store, `${prefix}a`, "1");
      const two = await update(store, `${prefix}a`, "2", one);
      const reader = new WatchReader(store, prefix, start);
      const events = await reader.take(2);
      const three = await remove(store, `${prefix}a`, two);
      const four = await create(store, `${prefix}b`, "4");
      events.push(...(await reader.take(2)));
      await reader.stop();
      assert.deepEqual(
        events.map((event) => event.revision),
        [one, two, three, four],
      );
      assert.deepEqual(
        events.map((event) => [plain(event.entry), plain(event.previous)]),
        [
          [{ key: `${prefix}a`, value: "1", createRevision: one, modRevision: one }, undefined],
          [
            { key: `${prefix}a`, value: "2", createRevision: one, modRevision: two },
            { key: `${prefix}a`, value: "1", createRevision: one, modRevision: one },
          ],
          [undefined, { key: `${prefix}a`, value: "2", createRevision: one, modRevision: two }],
          [{ key: `${prefix}b`, value: "4", createRevision: four, modRevision: four }, undefined],
        ],
      );
      const rest = await collect(store, prefix, two, { count: 2 });
      assert.deepEqual(
        rest.map((event) => event.revision),
        [three, four],
      );
    },
  ],
  [
    "watches from now without earlier changes",
    async (store, prefix) => {
      await create(store, `${prefix}before`, "x");
      const now = await store.revision();
      const reader = new WatchReader(store, prefix, now);
      for (const name of ["after", "later"]) {
        const revision = await create(store, prefix + name, "x");
        assert.deepEqual(
          (await reader.take(1)).map((event) => event.revision),
          [revision],
        );
      }
      await reader.stop();
    },
  ],
  [
    "watches from a future revision without events until it has passed",
    async (store, prefix) => {
      const now = await create(store, `${prefix}k`, "0");
      const collecting = collect(store, prefix, now + 2, { count: 1 });
      // Another watch, started after it, has caught up: so has the first.
      const other = new WatchReader(store, prefix, now);
      let revision = now;
      for (let i = 1; i <= 3; i++) {
        revision = await update(store, `${prefix}k`, `${i}`, revision);
        await other.take(1);
      }
      await other.stop();
      const events = await collecting;
      assert.ok((events[0]?.revision ?? 0) > now + 2);
    },
  ],
  [
    "watches a single key by its full name",
    async (store, prefix) => {
      const start = await store.revision();
      const reader = new WatchReader(store, `${prefix}one`, start);
      const other = await create(store, `${prefix}two`, "x");
      const first = await create(store, `${prefix}one`, "x");
      assert.equal(text((await reader.take(1))[0]?.entry?.value), "x");
      await update(store, `${prefix}two`, "z", other);
      await update(store, `${prefix}one`, "y", first);
      assert.equal(text((await reader.take(1))[0]?.entry?.value), "y");
      await reader.stop();
    },
  ],
  [
    "reports with each batch up to which revision the prefix is known",
    async (store, prefix) => {
      const start = await store.revision();
      const abort = new AbortController();
      const created = await create(store, `${prefix}a`, "x");
      let known = start;
      for await (const batch of store.watch(prefix, start, abort.signal)) {
        assert.ok(batch.revision >= known, "never goes back");
        for (const event of batch.events) {
          assert.ok(event.revision > known, "was not said to be known before");
          assert.ok(event.revision <= batch.revision);
        }
        known = batch.revision;
        if (known >= created) abort.abort();
      }
      assert.ok(known >= created);
    },
  ],
  [
    "shows ten concurrent writers of one key, each revision exactly once",
    async (store, prefix) => {
      const key = `${prefix}counter`;
      const start = await create(store, key, "0");
      const reader = new WatchReader(store, prefix, start);
      const watching = reader.take(200);
      const acknowledged: number[] = [];
      const increment = async (): Promise<void> => {
        for (let done = 0; done < 20; ) {
          const current = await store.get(key);
          const next = Number(text(current?.value)) + 1;
          const result = await store.put(key, bytes(`${next}`), current?.modRevision ?? 0);
          if (!result.ok) continue;
          acknowledged.push(result.revision);
          done++;
        }
      };
      await Promise.all(Array.from({ length: 10 }, increment));
      const seen = await watching;
      await reader.stop();
      assert.deepEqual(
        seen.map((event) => event.revision),
        acknowledged.sort((a, b) => a - b),
      );
      assert.deepEqual(
        seen.map((event) => Number(text(event.entry?.value))),
        Array.from({ length: 200 }, (_, i) => i + 1),
      );
      for (const event of seen) assert.equal(event.previous?.value.length === 0, false);
    },
  ],
  [
    "delivers everything to a paused watcher later, in order",
    async (store, prefix) => {
      const start = await store.revision();
      const abort = new AbortController();
      const iterator = store.watch(prefix, start, abort.signal)[Symbol.asyncIterator]();
      const expected = [await create(store, `${prefix}0`, "x")];
      const seen: number[] = [];
      const take = async (): Promise<void> => {
        const result = await iterator.next();
        if (!result.done) seen.push(...result.value.events.map((event) => event.revision));
      };
      while (seen.length === 0) await take();
      for (let i = 1; i <= 300; i += 30) {
        const batch = Array.from({ length: 30 }, (_, j) => create(store, `${prefix}${i + j}`, "x"));
        expected.push(...(await Promise.all(batch)));
      }
      while (seen.length < expected.length) await take();
      assert.deepEqual(
        seen,
        expected.sort((a, b) => a - b),
      );
      abort.abort();
      assert.equal((await iterator.next()).done, true);
    },
  ],
  [
    "reproduces by list and watch what many writers wrote",
    async (store, prefix) => {
      const listed = await store.list(prefix);
      const state = new Map<string, string>();
      const abort = new AbortController();
      let last = listed.revision;
      const watching = (async () => {
        for await (const batch of store.watch(prefix, listed.revision, abort.signal)) {
          for (const event of batch.events) {
            assert.ok(event.revision >= last);
            last = event.revision;
            assert.equal(text(event.previous?.value), state.get(event.key));
            if (event.entry === undefined) state.delete(event.key);
            else state.set(event.key, text(event.entry.value) ?? "");
          }
        }
      })();
      const write = async (_: unknown, writer: number): Promise<void> => {
        for (let i = 0; i < 30; i++) {
          const key = `${prefix}${(i * 7 + writer) % 11}`;
          const current = await store.get(key);
          if (current !== undefined && i % 3 === 0) await store.delete(key, current.modRevision);
          else await store.put(key, bytes(`${writer}-${i}`), current?.modRevision ?? 0);
        }
      };
      await Promise.all(Array.from({ length: 8 }, write));
      const end = await create(store, `${prefix}end`, "end");
      await eventually(() => last >= end);
      abort.abort();
      await watching;
      const final = await store.list(prefix);
      assert.deepEqual([...state].sort(), final.entries.map((entry) => [entry.key, text(entry.value)]).sort());
    },
  ],
  [
    "rejects a watch older than the compacted revision",
    async (store, prefix) => {
      const one = await create(store, `${prefix}a`, "1");
      const two = await update(store, `${prefix}a`, "2", one);
      const three = await update(store, `${prefix}a`, "3", two);
      const four = await update(store, `${prefix}a`, "4", three);
      await store.compact(three);
      const error = await rejectsWith("compacted", () => collect(store, prefix, one - 1, { count: 1 }));
      assert.equal(error.revision, three);
      const events = await collect(store, prefix, three, { count: 1 });
      assert.deepEqual(
        events.map((event) => [event.revision, text(event.previous?.value)]),
        [[four, "3"]],
      );
    },
  ],
  [
    "ends a watch without an error when the signal aborts",
    async (store, prefix) => {
      const start = await store.revision();
      const before = new AbortController();
      before.abort();
      for await (const batch of store.watch(prefix, start, before.signal)) assert.equal(batch.events.length, 0);
      const reader = new WatchReader(store, prefix, start);
      await create(store, `${prefix}a`, "x");
      await reader.take(1);
      const ending = reader.ended();
      await reader.stop();
      await ending;
    },
  ],
  [
    "ends watches on close and rejects later calls",
    async (store, prefix) => {
      const start = await store.revision();
      const reader = new WatchReader(store, prefix, start);
      await create(store, `${prefix}first`, "x");
      await reader.take(1);
      const ending = reader.ended();
      await store.close();
      await ending;
      await rejectsWith("closed", async () => store.get(`${prefix}a`));
      await rejectsWith("closed", () => store.list(prefix));
      await rejectsWith("closed", () => store.put(`${prefix}a`, bytes("x"), 0));
      await rejectsWith("closed", () => store.delete(`${prefix}a`, 1));
      await rejectsWith("closed", () => store.revision());
      await rejectsWith("closed", () => store.compact(start));
      await rejectsWith("closed", () => collect(store, prefix, start, { count: 1 }));
      await store.close();
    },
  ],
];
