import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { ManualClock, settle } from "../../../base/util/environment.suite.ts";
import { KeySpace } from "../../../resources/model/keys.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import { leaderKey, runAsLeader, storeRecord } from "./leader.ts";

const key = leaderKey(new KeySpace("registry"), "controllers");

suite("runAsLeader", () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let leaders: string[];
  let stops: { stop(): void; ended: Promise<void> }[];

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryStore({ clock });
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
    const ended = runAsLeader(storeRecord({ store, key, identity, ttlMs }), clock, abort.signal, async (signal) => {
      leaders.push(identity);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      leaders.splice(leaders.indexOf(identity), 1);
    });
    const running = { stop: () => abort.abort(), ended };
    stops.push(running);
    return running;
  }

  test("uses a key that belongs to no kind", () => assert.equal(key, "/registry/binnacle/leaders/controllers"));

  test("elects one of several replicas, and hands over at once when it stops", async () => {
    const candidates = ["a", "b", "c"].map((name) => ({ name, ...candidate(name, 60_000) }));
    const seen: string[] = [];
    for (const _ of candidates) {
      await settle();
      assert.equal(leaders.length, 1);
      const leader = candidates.find(({ name }) => name === leaders[0]);
      seen.push(leader?.name ?? "");
      leader?.stop();
      await leader?.ended;
    }
    assert.deepEqual(seen.sort(), ["a", "b", "c"]);
    assert.equal(await store.get(key), undefined);
  });

  test("replaces a leader that no longer renews its record, but not one that does", async () => {
    await store.put(key, Buffer.from('{"holder":"silent"}'), 0);
    candidate("a", 15_000);
    await clock.advance(14_999);
    assert.deepEqual(leaders, []);
    await clock.advance(1);
    assert.deepEqual(leaders, ["a"]);
    candidate("b", 15_000);
    const revision = await store.revision();
    await clock.advance(60_000);
    assert.equal(await store.revision(), revision + 20, "five renewals within each time to live");
    assert.deepEqual(leaders, ["a"]);
  });

  test("stops a leader whose record was taken before it tries again", async () => {
    candidate("a", 15_000);
    await settle();
    assert.deepEqual(leaders, ["a"]);
    const current = await store.get(key);
    await store.put(key, Buffer.from('{"holder":"thief"}'), current?.modRevision ?? 0);
    await clock.advance(3000);
    assert.deepEqual(leaders, []);
    assert.match(Buffer.from((await store.get(key))?.value ?? []).toString(), /thief/);
    await clock.advance(14_999);
    assert.deepEqual(leaders, []);
    await clock.advance(1);
    assert.deepEqual(leaders, ["a"]);
  });

  test("stops a leader that cannot reach the store before another one may take over", async () => {
    candidate("a", 15_000);
    await settle();
    const put = store.put.bind(store);
    store.put = () => new Promise(() => undefined);
    await clock.advance(9999);
    assert.deepEqual(leaders, ["a"]);
    await clock.advance(1);
    assert.deepEqual(leaders, []);
    store.put = put;
    // The pending attempt is aborted after the time to live; the next one follows a renewal interval later.
    await clock.advance(18_000);
    assert.deepEqual(leaders, ["a"]);
  });
});
