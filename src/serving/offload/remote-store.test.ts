import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../storage/memory.ts";
import { StoreError } from "../../storage/store.ts";
import { answerQuestion, Questions, remotePart } from "./asking.ts";
import type { FromThread } from "./messages.ts";
import { RemoteStore, type SharedStore, STORE_METHODS, shareStore } from "./remote-store.ts";

/** A store behind cloned messages, as between threads, with a log of the calls. */
function connect(store: MemoryStore) {
  const parts = { store: shareStore(store) };
  const asked: string[] = [];
  const post = async (message: FromThread) => {
    if (message.type !== "ask") return;
    asked.push(message.method);
    questions.answered(structuredClone(await answerQuestion(parts, structuredClone(message))));
  };
  const questions = new Questions((message) => void post(message));
  const shared = remotePart<SharedStore, keyof SharedStore>(questions.ask, "store", STORE_METHODS);
  return { remote: new RemoteStore(shared), asked, ask: questions.ask };
}

const bytes = (text: string) => Buffer.from(text);

test("forwards reads, writes, conflicts and errors", async () => {
  const store = new MemoryStore();
  const { remote, ask } = connect(store);
  const value = bytes("a part of a pool");
  const written = await remote.put("/a", value, 0);
  assert.ok(written.ok);
  assert.equal(value.toString(), "a part of a pool", "the buffer was detached");
  const entry = await remote.get("/a");
  assert.deepEqual({ ...entry, value: Buffer.from(entry?.value ?? []) }, { ...(await store.get("/a")), value });
  assert.equal(entry?.value.buffer.byteLength, value.length, "the whole pool buffer was sent");
  const refused = await remote.put("/a", value, 0);
  assert.ok(!refused.ok && refused.current?.modRevision === written.revision);
  assert.equal(await remote.get("/none"), undefined);
  assert.equal(await remote.revision(), await store.revision());
  assert.ok((await remote.delete("/a", written.revision)).ok);
  const future = remote.list("/", { revision: 100_000 });
  await assert.rejects(future, (error) => error instanceof StoreError && error.code === "future-revision");
  await assert.rejects(ask("store", "compact", [1]), /worker threads cannot call store.compact/);
});

test("splits a long list into several messages of one revision", async () => {
  const store = new MemoryStore();
  const { remote, asked } = connect(store);
  const keys = Array.from({ length: 1200 }, (_, at) => `/a/${String(at).padStart(4, "0")}`);
  for (const key of keys) await store.put(key, bytes(key), 0);
  const adding = remote.list("/a/");
  await store.put("/a/later", bytes("later"), 0);
  const page = await adding;
  assert.deepEqual([page.entries.map(({ key }) => key), page.remaining], [keys, 0]);
  assert.equal(asked.length, 3);
  const some = await remote.list("/a/", { limit: 700, revision: page.revision });
  assert.deepEqual([some.entries.length, some.remaining], [700, 500]);

  const large = Buffer.alloc(600_000);
  for (const key of ["/b/1", "/b/2", "/b/3"]) await store.put(key, large, 0);
  asked.length = 0;
  assert.equal((await remote.list("/b/")).entries.length, 3);
  assert.equal(asked.length, 3, "a message exceeded the size limit");
});
