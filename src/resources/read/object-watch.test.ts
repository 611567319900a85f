import assert from "node:assert/strict";
import { test } from "node:test";
import type { WatchEvent } from "../../base/api/reply.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { Once } from "../../base/util/once.ts";
import { DecodeError } from "../../data/encoding/json/json.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { ResourceContext } from "../context.ts";
import { serve } from "../model/catalog.ts";
import { KeySpace } from "../model/keys.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { watchObjects } from "./object-watch.ts";
import { parseSelection } from "./selection.ts";
import { thing, thingVersion } from "./thing.suite.ts";
import { ViewCache } from "./view-cache.ts";

const codec = new ObjectCodec();
const MINUTE_MS = 60_000;

/** Number of watches that listen for the withdrawal of a kind. */
class CountingOnce extends Once {
  listeners = 0;

  override listen(listener: () => void): () => void {
    this.listeners++;
    const stop = super.listen(listener);
    let isStopped = false;
    return () => {
      if (!isStopped) this.listeners--;
      isStopped = true;
      stop();
    };
  }
}

function setUp({ deadlineMs = 60 * MINUTE_MS, allowBookmarks = true } = {}) {
  const withdrawn = new CountingOnce();
  const resource = { ...serve(thing, thingVersion), withdrawn };
  const store = new MemoryStore();
  const clock = new ManualClock(0);
  const context = {
    store,
    clock,
    keys: new KeySpace("/registry"),
    views: new ViewCache(codec),
  } as unknown as ResourceContext;
  const watch = (resourceVersion: number | undefined, signal: AbortSignal, labelSelector = "") => {
    const selection = parseSelection(resource, {
      namespace: "",
      labelSelector,
      fieldSelector: "",
      shardSelector: "",
    });
    const request = { selection, resourceVersion, sendInitialEvents: false, allowBookmarks };
    return watchObjects(context, resource, { ...request, deadlineMs }, signal);
  };
  const write = async (name: string) => {
    const object = { kind: "Thing", apiVersion: "v1", metadata: { name, namespace: "a" } };
    const result = await store.put(context.keys.key(thing, object.metadata), codec.write(object), 0);
    assert.ok(result.ok);
    return result.revision;
  };
  return { store, watch, write, withdrawn, clock };
}

const print = (given: IteratorResult<readonly WatchEvent[], void>) =>
  (given.done ? [] : given.value).map((event) =>
    event.type === "ERROR"
      ? `ERROR ${event.status.code}`
      : `${event.type} ${event.view.object.metadata.resourceVersion}`,
  );

test("sends bookmarks once a minute while the reader waits, and events after them", async () => {
  const { store, watch, write, clock } = setUp();
  const stop = new AbortController();
  const revision = await write("before");
  const events = watch(revision, stop.signal);
  for (let minute = 0; minute < 3; minute++) {
    const next = events.next();
    await clock.advance(MINUTE_MS);
    assert.deepEqual(print(await next), [`BOOKMARK ${revision}`]);
  }
  const added = await write("after");
  assert.deepEqual(print(await events.next()), [`ADDED ${added}`]);
  stop.abort();
  assert.equal((await events.next()).done, true);
  await store.close();
});

test("a watch ends without an error when its kind is withdrawn, at any stage", async () => {
  const { store, watch, write, withdrawn } = setUp();
  const { signal } = new AbortController();
  const revision = await write("one");
  const [waiting, beginning] = [watch(revision, signal), watch(undefined, signal)];
  const next = waiting.next();
  await new Promise(setImmediate);
  const first = beginning.next();
  withdrawn.happen();
  const late = watch(revision, signal);
  for (const given of [await next, await first, await late.next()]) assert.equal(given.done, true);
  await store.close();
});

test("a watch without an end needs no timer, or one for bookmarks", async () => {
  for (const allowBookmarks of [false, true]) {
    const { store, watch, write, clock } = setUp({ deadlineMs: Number.POSITIVE_INFINITY, allowBookmarks });
    const stop = new AbortController();
    const revision = await write("one");
    const events = watch(revision, stop.signal);
    const next = events.next();
    await new Promise(setImmediate);
    assert.equal(clock.timerCount, allowBookmarks ? 1 : 0);
    await clock.advance(MINUTE_MS);
    if (!allowBookmarks) await write("two");
    assert.deepEqual(print(await next), [allowBookmarks ? `BOOKMARK ${revision}` : `ADDED ${revision + 1}`]);
    stop.abort();
    await events.return(undefined);
    await store.close();
  }
});

test("an ended watch leaves no timer and no listener behind", async () => {
  for (const end of ["the reader leaves", "the signal aborts", "the history is gone"]) {
    const { store, watch, write, withdrawn, clock } = setUp();
    const stop = new AbortController();
    const first = await write("one");
    await store.compact(await write("two"));
    const events = watch(end === "the history is gone" ? first - 1 : first + 1, stop.signal);
    const next = events.next();
    await new Promise(setImmediate);
    if (end === "the history is gone") assert.deepEqual(print(await next), ["ERROR 410"]);
    if (end === "the reader leaves") {
      await clock.advance(MINUTE_MS);
      await next;
      await events.return(undefined);
    }
    stop.abort();
    await next;
    assert.equal(clock.timerCount, 0, end);
    assert.equal(withdrawn.listeners, 0, end);
    await store.close();
  }
});

test("an undecodable stored value fails only the watches that must decode it", async () => {
  const { store, watch, write } = setUp();
  const stop = new AbortController();
  const revision = await write("good");
  const [waiting, late] = [watch(revision, stop.signal, "app"), watch(revision, stop.signal, "app")];
  const next = waiting.next();
  await new Promise(setImmediate);
  const bad = await store.put("/registry/things/a/bad", Buffer.from("no object"), 0);
  assert.ok(bad.ok);
  await assert.rejects(next, DecodeError);
  await assert.rejects(late.next(), DecodeError);
  assert.equal((await waiting.next()).done, true);
  const after = watch(bad.revision, stop.signal, "!app");
  const added = await write("better");
  assert.deepEqual(print(await after.next()), [`ADDED ${added}`]);
  stop.abort();
  await store.close();
});
