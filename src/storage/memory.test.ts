import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { ManualClock } from "../base/util/environment.suite.ts";
import { MemoryStore } from "./memory.ts";
import { StoreError, type StoreWatch } from "./store.ts";
import { create, update } from "./suite/steps.suite.ts";

describe("MemoryStore history", () => {
  it("begins at revision 1, and the first write gets 2", async (t) => {
    const store = new MemoryStore();
    t.after(() => store.close());
    assert.equal(await store.revision(), 1);
    assert.equal(await create(store, "/a", "x"), 2);
  });

  it("compacts when there are more events than allowed", async (t) => {
    const store = new MemoryStore({ maxEvents: 100 });
    t.after(() => store.close());
    let revision = 0;
    for (let i = 0; i < 101; i++) revision = await update(store, "/a", `${i}`, revision);
    // 101 events were too many, 75 are kept: those of revisions 28 to 102.
    assert.equal((await store.list("/", { revision: 28 })).entries.length, 1);
    await assert.rejects(
      store.list("/", { revision: 27 }),
      (error) => error instanceof StoreError && error.revision === 28,
    );
  });

  it("compacts when old values have more bytes than allowed, and then rejects reads of them", async (t) => {
    const store = new MemoryStore({ maxBytes: 100_000 });
    t.after(() => store.close());
    const watch = store.watch("/large/", 1, new AbortController().signal);
    const small = await create(store, "/small", "x");
    let revision = 0;
    for (let i = 0; i < 12; i++) revision = await update(store, "/large/a", `${i % 10}`.repeat(10_000), revision);
    // The value of revision 13 was the eleventh obsolete one; seven are kept: those of 7 to 13.
    assert.equal((await store.list("/", { revision: 8 })).entries.length, 2);
    await assert.rejects(store.list("/", { revision: 7 }), { code: "compacted", revision: 8 });
    await assert.rejects(
      async () => {
        for await (const _ of watch) break;
      },
      { code: "compacted" },
    );
    assert.equal((await store.get("/small"))?.modRevision, small, "what is current stays");
    assert.equal((await store.get("/large/a"))?.value.byteLength, 10_000);
  });

  it("keeps working if one value alone exceeds the limit", async (t) => {
    const store = new MemoryStore({ maxBytes: 10 });
    t.after(() => store.close());
    let revision = 0;
    for (let i = 0; i < 5; i++) revision = await update(store, "/a", "x".repeat(100), revision);
    assert.equal((await store.list("/")).entries.length, 1);
    await assert.rejects(store.list("/", { revision: revision - 1 }), { code: "compacted" });
  });
});

test("a fork has the same keys, revisions and expiries, and is independent", async () => {
  const clock = new ManualClock();
  const origin = new MemoryStore({ clock });
  await origin.put("/a", Buffer.from("1"), 0);
  await origin.put("/b", Buffer.from("2"), 0, { ttlSeconds: 10 });
  const begin = origin.freeze();
  await origin.delete("/a", 2);
  const fork = new MemoryStore({ clock, begin });
  assert.equal(await fork.revision(), 3);
  assert.deepEqual(await fork.list("/"), { entries: begin.state.map.values(), revision: 3, remaining: 0 });
  assert.deepEqual(await fork.put("/c", Buffer.from("3"), 0), { ok: true, revision: 4 });
  assert.equal((await origin.list("/")).entries.length, 1);
  assert.equal(begin.state.map.size, 2, "what is frozen stays as it was");
  await assert.rejects(collect(fork.watch("/", 2, new AbortController().signal)), { code: "compacted" });
  await clock.advance(10_000);
  assert.deepEqual(
    (await fork.list("/")).entries.map(({ key }) => key),
    ["/a", "/c"],
  );
  await Promise.all([origin.close(), fork.close()]);
});

async function collect(watch: StoreWatch): Promise<void> {
  for await (const _ of watch);
}
