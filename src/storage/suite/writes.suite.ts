import assert from "node:assert/strict";
import { bytes, collect, create, plain, remove, type StoreTest, text, update } from "./steps.suite.ts";

/** Contract tests of writes. */
export const writeTests: readonly StoreTest[] = [
  [
    "accepts values of almost 1.5 MiB, and no larger ones",
    async (store, prefix) => {
      const limit = 1.5 * 1024 * 1024;
      const written = await store.put(`${prefix}fits`, new Uint8Array(limit - 1024), 0);
      assert.ok(written.ok);
      for (const size of [limit, 2_000_000, 2_900_000]) {
        await assert.rejects(store.put(`${prefix}large`, new Uint8Array(size), 0), { code: "too-large" }, String(size));
        await assert.rejects(store.put(`${prefix}fits`, new Uint8Array(size), written.revision), { code: "too-large" });
      }
      assert.equal(await store.get(`${prefix}large`), undefined);
      await remove(store, `${prefix}fits`, written.revision);
    },
  ],
  [
    "creates, reads, updates and deletes one key",
    async (store, prefix) => {
      const key = `${prefix}a`;
      assert.equal(await store.get(key), undefined);
      const created = await create(store, key, "one");
      assert.deepEqual(plain(await store.get(key)), {
        key,
        value: "one",
        createRevision: created,
        modRevision: created,
      });
      const updated = await update(store, key, "two", created);
      assert.deepEqual(plain(await store.get(key)), {
        key,
        value: "two",
        createRevision: created,
        modRevision: updated,
      });
      await remove(store, key, updated);
      assert.equal(await store.get(key), undefined);
    },
  ],
  [
    "rejects a create of an existing key and returns its entry",
    async (store, prefix) => {
      const key = `${prefix}a`;
      const created = await create(store, key, "one");
      const before = await store.revision();
      const refused = await store.put(key, bytes("two"), 0);
      assert.ok(!refused.ok);
      assert.deepEqual(plain(refused.current), { key, value: "one", createRevision: created, modRevision: created });
      assert.equal(await store.revision(), before, "a rejected write uses no revision");
    },
  ],
  [
    "rejects an update or delete with another revision and returns the current entry",
    async (store, prefix) => {
      const key = `${prefix}a`;
      const created = await create(store, key, "one");
      const updated = await update(store, key, "two", created);
      const current = { key, value: "two", createRevision: created, modRevision: updated };
      for (const result of [await store.put(key, bytes("x"), created), await store.delete(key, created)]) {
        assert.ok(!result.ok);
        assert.deepEqual(plain(result.current), current);
      }
      assert.deepEqual(plain(await store.get(key)), current);
    },
  ],
  [
    "rejects an update or delete of a missing key",
    async (store, prefix) => {
      const key = `${prefix}a`;
      const revision = await create(store, `${prefix}other`, "x");
      for (const expected of [revision, 0]) {
        const refused = await store.delete(key, expected);
        assert.deepEqual(refused, { ok: false, current: undefined });
      }
      assert.deepEqual(await store.put(key, bytes("x"), revision), { ok: false, current: undefined });
      assert.equal(await store.revision(), revision);
    },
  ],
  [
    "gives a new createRevision after a delete",
    async (store, prefix) => {
      const key = `${prefix}a`;
      const first = await create(store, key, "one");
      await remove(store, key, first);
      const second = await create(store, key, "two");
      assert.ok(second > first);
      assert.deepEqual(plain(await store.get(key)), { key, value: "two", createRevision: second, modRevision: second });
    },
  ],
  [
    "counts one revision for all keys, strictly ascending",
    async (store, prefix) => {
      const revisions: number[] = [await store.revision()];
      for (let i = 0; i < 5; i++) {
        const revision = await create(store, `${prefix}k${i}`, "x");
        revisions.push(revision);
        assert.equal(await store.revision(), revision);
        revisions.push(await update(store, `${prefix}k${i}`, "y", revision));
      }
      revisions.push(await remove(store, `${prefix}k0`, revisions[2] ?? 0));
      for (let i = 1; i < revisions.length; i++) assert.ok((revisions[i] ?? 0) > (revisions[i - 1] ?? 0));
    },
  ],
  [
    "writes identical bytes as a change",
    async (store, prefix) => {
      const first = await create(store, `${prefix}a`, "same");
      const second = await update(store, `${prefix}a`, "same", first);
      assert.ok(second > first);
    },
  ],
  [
    "lets exactly one of many concurrent creates succeed",
    async (store, prefix) => {
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.put(`${prefix}a`, bytes(`${i}`), 0)),
      );
      const winner = results.findIndex((result) => result.ok);
      assert.equal(results.filter((result) => result.ok).length, 1);
      assert.equal(text((await store.get(`${prefix}a`))?.value), `${winner}`);
      for (const result of results) if (!result.ok) assert.equal(text(result.current?.value), `${winner}`);
    },
  ],
  [
    "keeps unicode keys, empty values, all byte values and 1 MB values",
    async (store, prefix) => {
      const large = new Uint8Array(1_000_000).map((_, i) => i % 251);
      const values: [string, Uint8Array][] = [
        ["ünï-☃-😀", bytes("snow")],
        ["empty", new Uint8Array(0)],
        ["bytes", new Uint8Array(256).map((_, i) => i)],
        ["large", large],
      ];
      for (const [name, value] of values) assert.ok((await store.put(prefix + name, value, 0)).ok);
      for (const [name, value] of values) {
        const entry = await store.get(prefix + name);
        assert.equal(entry?.key, prefix + name);
        assert.ok(Buffer.from(value).equals(entry.value));
      }
      assert.equal((await store.list(prefix)).entries.length, values.length);
    },
  ],
  [
    "deletes with an event when the TTL has passed",
    async (store, prefix) => {
      const [key, kept, last] = ["short", "kept", "last"].map((name) => prefix + name) as [string, string, string];
      // Its TTL would pass before that of the other.
      const other = await store.put(kept, bytes("x"), 0, { ttlSeconds: 1 });
      assert.ok(other.ok);
      const since = await update(store, kept, "no longer limited", other.revision);
      assert.ok((await store.put(key, bytes("x"), 0, { ttlSeconds: 1 })).ok);
      const [created, deleted] = await collect(store, prefix, since, { count: 2, timeoutMs: 8_000 });
      assert.deepEqual([created?.key, deleted?.key, deleted?.entry], [key, key, undefined]);
      assert.equal(text(deleted?.previous?.value), "x");
      assert.equal(await store.get(key), undefined);
      await create(store, last, "x");
      const [next] = await collect(store, prefix, deleted?.revision ?? 0, { count: 1 });
      assert.equal(next?.key, last);
      assert.equal(text((await store.get(kept))?.value), "no longer limited");
    },
  ],
];
