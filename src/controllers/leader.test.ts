import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { KeySpace } from "../resources/model/keys.ts";
import { MemoryStore } from "../storage/memory.ts";
import { until } from "./controllers.suite.ts";
import { leaderKey, runAsLeader } from "./leader.ts";

const key = leaderKey(new KeySpace("registry"), "controllers");

suite("leadership", () => {
  let store: MemoryStore;
  let leaders: string[];
  let stops: { stop(): void; ended: Promise<void> }[];

  beforeEach(() => {
    store = new MemoryStore();
    leaders = [];
    stops = [];
  });
  afterEach(async () => {
    for (const { stop, ended } of stops) {
      stop();
      await ended;
    }
    await store.close();
  });

  function candidate(identity: string, ttlMs: number) {
    const abort = new AbortController();
    const ended = runAsLeader({ store, key, identity, ttlMs }, abort.signal, async (signal) => {
      leaders.push(identity);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      leaders.splice(leaders.indexOf(identity), 1);
    });
    const running = { stop: () => abort.abort(), ended };
    stops.push(running);
    return running;
  }

  test("the key belongs to no kind", () => assert.equal(key, "/registry/binnacle/leaders/controllers"));

  test("one of several leads, and hands over at once when it stops", async () => {
    const candidates = ["a", "b", "c"].map((name) => ({ name, ...candidate(name, 60_000) }));
    const seen: string[] = [];
    for (const _ of candidates) {
      await until(() => leaders.length > 0);
      assert.equal(leaders.length, 1);
      const leader = candidates.find(({ name }) => name === leaders[0]);
      seen.push(leader?.name ?? "");
      leader?.stop();
      await leader?.ended;
    }
    assert.deepEqual(seen.sort(), ["a", "b", "c"]);
    assert.equal(await store.get(key), undefined);
  });

  test("a leader that is never heard of again is replaced after its time, one that is heard of is not", async () => {
    await store.put(key, Buffer.from('{"holder":"silent"}'), 0);
    const began = performance.now();
    candidate("a", 100);
    await until(() => leaders.length > 0);
    assert.ok(performance.now() - began >= 95);
    candidate("b", 100);
    const revision = await store.revision();
    // Several renewals, over more than the time to live.
    await until(async () => (await store.revision()) >= revision + 8);
    assert.deepEqual(leaders, ["a"]);
  });

  test("a leader whose record is taken stops before it tries again", async () => {
    candidate("a", 50);
    await until(() => leaders.length > 0);
    for (;;) {
      const current = await store.get(key);
      const result = await store.put(key, Buffer.from('{"holder":"thief"}'), current?.modRevision ?? 0);
      if (result.ok) break;
    }
    await until(() => leaders.length === 0);
    assert.match(Buffer.from((await store.get(key))?.value ?? []).toString(), /thief/);
    await until(() => leaders.length > 0);
  });

  test("a leader that cannot reach the store stops", async () => {
    candidate("a", 60);
    await until(() => leaders.length > 0);
    const put = store.put.bind(store);
    store.put = () => new Promise(() => undefined);
    await until(() => leaders.length === 0);
    store.put = put;
    await until(() => leaders.length > 0);
  });
});
