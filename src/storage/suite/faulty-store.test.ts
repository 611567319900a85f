import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryStore } from "../memory.ts";
import { StoreError, type WatchBatch } from "../store.ts";
import { FaultyStore } from "./faulty-store.suite.ts";
import { bytes, collect, create, rejectsWith } from "./steps.suite.ts";

describe("FaultyStore", () => {
  it("fails calls before or after they happen, each once", async (t) => {
    const store = new FaultyStore(new MemoryStore());
    t.after(() => store.close());
    const error = new StoreError("timeout", "injected");
    store.failNext("put", { error });
    store.failNext("put", { error, when: "after" });
    await rejectsWith("timeout", () => store.put("/a", bytes("x"), 0));
    assert.equal(await store.get("/a"), undefined);
    await rejectsWith("timeout", () => store.put("/a", bytes("x"), 0));
    assert.equal((await store.get("/a"))?.modRevision, 2);
    assert.equal(await create(store, "/b", "x"), 3);
  });

  it("delays calls", async (t) => {
    const store = new FaultyStore(new MemoryStore());
    t.after(() => store.close());
    store.delay("get", 30);
    const start = performance.now();
    await store.get("/a");
    assert.ok(performance.now() - start >= 25);
    store.delay("get", 0);
    await store.get("/a");
  });

  it("ends watches with or without an error", async (t) => {
    const store = new FaultyStore(new MemoryStore());
    t.after(() => store.close());
    const { signal } = new AbortController();
    const failing = rejectsWith("unavailable", () => drain(store.watch("/", 1, signal)));
    await new Promise((resolve) => setImmediate(resolve));
    store.cutWatches(new StoreError("unavailable", "cut"));
    await failing;
    const quiet = drain(store.watch("/", 1, signal));
    await new Promise((resolve) => setImmediate(resolve));
    store.cutWatches();
    assert.deepEqual(await quiet, []);
    const later = collect(store, "/", 1, { count: 1 });
    await create(store, "/a", "x");
    await later;
  });
});

async function drain(batches: AsyncIterable<WatchBatch>): Promise<WatchBatch[]> {
  const all: WatchBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}
