import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { MemoryStore } from "../../storage/memory.ts";
import { StoreError } from "../../storage/store.ts";
import { StoredIndex } from "./stored-index.ts";

const bytes = (text: string) => Buffer.from(text);

suite("stored index", () => {
  let store: MemoryStore;
  let stop: AbortController;
  let index: StoredIndex<string>;
  let changes: number;

  beforeEach(() => {
    store = new MemoryStore();
    stop = new AbortController();
    changes = 0;
    index = new StoredIndex({
      store,
      prefix: "/a/",
      read: ({ value }) => (value.length === 0 ? undefined : Buffer.from(value).toString()),
      changed: () => {
        changes += 1;
      },
    });
  });

  afterEach(async () => {
    stop.abort();
    await store.close();
  });

  const put = async (key: string, text: string, expected = 0) => {
    const result = await store.put(key, bytes(text), expected);
    assert.ok(result.ok);
    return result.revision;
  };
  const contents = () => Object.fromEntries(index.items);

  test("contains existing entries, then follows writes, changes and deletions", async () => {
    const first = await put("/a/1", "one");
    await put("/b/1", "not here");
    const running = index.run(stop.signal);
    await index.waitFor(first, stop.signal);
    assert.deepEqual(contents(), { "/a/1": "one" });
    const second = await put("/a/2", "two");
    const changed = await put("/a/1", "uno", first);
    await index.waitFor(changed, stop.signal);
    assert.deepEqual(contents(), { "/a/1": "uno", "/a/2": "two" });
    const deleted = await store.delete("/a/2", second);
    assert.ok(deleted.ok);
    await index.waitFor(deleted.revision, stop.signal);
    assert.deepEqual(contents(), { "/a/1": "uno" });
    assert.ok(changes >= 2);
    stop.abort();
    await running;
  });

  test("without watch support, contains the state of the last wait and reads only what changed", async () => {
    const read: string[] = [];
    const unwatched = new StoredIndex<string>({
      store: Object.assign(store, { isUnwatched: true as const }),
      prefix: "/a/",
      read: ({ key, value }) => {
        read.push(key);
        return Buffer.from(value).toString();
      },
    });
    const first = await put("/a/1", "one");
    await put("/a/2", "two");
    await unwatched.loaded(stop.signal);
    assert.deepEqual(Object.fromEntries(unwatched.items), { "/a/1": "one", "/a/2": "two" });
    await put("/a/1", "uno", first);
    assert.equal(unwatched.items.get("/a/1"), "one");
    await unwatched.loaded(stop.signal);
    await unwatched.loaded(stop.signal);
    assert.deepEqual(Object.fromEntries(unwatched.items), { "/a/1": "uno", "/a/2": "two" });
    assert.deepEqual(read, ["/a/1", "/a/2", "/a/1"]);
  });

  test("leaves out entries read as undefined, even if they were included before", async () => {
    const first = await put("/a/1", "one");
    void index.run(stop.signal);
    await index.waitFor(await put("/a/1", "", first), stop.signal);
    assert.deepEqual(contents(), {});
  });

  test("reaches a revision written under another prefix", async () => {
    void index.run(stop.signal);
    const elsewhere = await put("/b/1", "one");
    await index.waitFor(elsewhere, stop.signal);
    assert.deepEqual(contents(), {});
  });

  test("waits for a later start, and gives up when the signal is aborted", async () => {
    const revision = await put("/a/1", "one");
    const given = new AbortController();
    const abandoned = assert.rejects(index.waitFor(revision, given.signal), { name: "AbortError" });
    const waiting = index.waitFor(revision, stop.signal);
    given.abort();
    await abandoned;
    void index.run(stop.signal);
    await waiting;
    assert.deepEqual(contents(), { "/a/1": "one" });
  });

  test("drops entries deleted while it did not run", async () => {
    const first = await put("/a/1", "one");
    const pause = new AbortController();
    const run = index.run(pause.signal);
    await index.waitFor(first, stop.signal);
    pause.abort();
    await run;
    await store.delete("/a/1", first);
    const second = await put("/a/2", "two");
    assert.deepEqual(contents(), { "/a/1": "one" }, "the last known state is kept");
    void index.run(stop.signal);
    await index.waitFor(second, stop.signal);
    assert.deepEqual(contents(), { "/a/2": "two" });
  });

  test("fails with the store's error when the store is closed", async () => {
    const running = index.run(stop.signal);
    await index.waitFor(0, stop.signal);
    await store.close();
    await assert.rejects(running);
    await assert.rejects(index.waitFor(1, stop.signal), StoreError);
  });
});
