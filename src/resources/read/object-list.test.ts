import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../base/api/api-error.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { ListOptions, Page } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import { serve } from "../model/catalog.ts";
import { KeySpace } from "../model/keys.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { listObjects } from "./object-list.ts";
import { parseSelection } from "./selection.ts";
import { thing, thingVersion } from "./thing.suite.ts";
import { ViewCache } from "./view-cache.ts";

const codec = new ObjectCodec();
const resource = serve(thing, thingVersion);
const EVERYTHING = parseSelection(resource, { namespace: "", labelSelector: "", fieldSelector: "", shardSelector: "" });
const COUNT = 4500;

/** A store that can be written to and compacted as far as possible after each page. */
class Overrun extends MemoryStore {
  compactions = 0;
  pages = 0;

  override async list(prefix: string, options?: ListOptions): Promise<Page> {
    const page = await super.list(prefix, options);
    this.pages++;
    if (this.compactions > 0) {
      this.compactions--;
      await this.put(`/elsewhere/${this.pages}`, new Uint8Array(0), 0);
      await this.compact(await this.revision());
    }
    return page;
  }
}

async function setUp() {
  const store = new Overrun();
  const context = { store, keys: new KeySpace("/registry"), views: new ViewCache(codec) } as unknown as ResourceContext;
  for (let i = 0; i < COUNT; i++) {
    const metadata = { name: `thing-${i}`, namespace: "a" };
    await store.put(context.keys.key(thing, metadata), codec.write({ kind: "Thing", apiVersion: "v1", metadata }), 0);
  }
  const list = (query: { resourceVersion?: number; limit?: number; continueToken?: string }) =>
    listObjects(context, resource, {
      selection: EVERYTHING,
      limit: query.limit ?? 0,
      continueToken: query.continueToken ?? "",
      resourceVersion: query.resourceVersion,
      resourceVersionMatch: "",
    });
  return { store, list };
}

test("a compaction during a list without resourceVersion is not visible to the caller", async () => {
  for (const query of [{}, { resourceVersion: 0 }, { resourceVersion: 5 }, { limit: 4000 }]) {
    const { store, list } = await setUp();
    store.compactions = 2;
    const { items, metadata } = await list(query);
    assert.equal(items.length, query.limit ?? COUNT);
    assert.ok(Number(metadata.resourceVersion) > COUNT);
    assert.ok(store.pages > 2, "the list started over");
    await store.close();
  }
});

test("rejects a list of an exact version or next page once it is compacted", async () => {
  const { store, list } = await setUp();
  const first = await list({ limit: 10 });
  store.compactions = 1;
  const refused = (query: Parameters<typeof list>[0]) =>
    list(query).then(
      () => assert.fail("not refused"),
      (error: unknown) => error,
    );
  const exact = await refused({ limit: 4000, resourceVersion: Number(first.metadata.resourceVersion) });
  assert.ok(exact instanceof ApiError && exact.status.code === 410);
  const page = await refused({ limit: 10, continueToken: first.metadata.continue });
  assert.ok(page instanceof ApiError && page.status.code === 410);
  assert.notEqual(page.status.metadata?.continue, first.metadata.continue);
  const rest = await list({ continueToken: String(page.status.metadata?.continue) });
  assert.equal(rest.items.length, COUNT - 10);
  await store.close();
});

test("a long list stays consistent despite writes and compactions while it is read", async () => {
  const { store, list } = await setUp();
  const { items } = await list({});
  assert.equal(store.pages, 1, "the rest is read on demand");
  for (const { key, modRevision } of (await store.list("/registry/")).entries) await store.delete(key, modRevision);
  await store.compact(await store.revision());
  const names = new Set([...items].map(({ object }) => object.metadata.name));
  assert.equal(names.size, COUNT);
  assert.equal((await list({})).items.length, 0);
  await store.close();
});

test("comparing selectors with large objects yields to the event loop", async () => {
  const store = new MemoryStore();
  const context = { store, keys: new KeySpace("/registry"), views: new ViewCache(codec) } as unknown as ResourceContext;
  for (let i = 0; i < 20; i++) {
    const metadata = { name: `thing-${i}`, namespace: "a", annotations: { large: "x".repeat(300_000) } };
    await store.put(context.keys.key(thing, metadata), codec.write({ kind: "Thing", apiVersion: "v1", metadata }), 0);
  }
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { items } = await listObjects(context, resource, {
    selection: parseSelection(resource, { namespace: "", labelSelector: "a!=b", fieldSelector: "", shardSelector: "" }),
    ...{ limit: 0, continueToken: "", resourceVersion: undefined, resourceVersionMatch: "" },
  });
  isOver = true;
  assert.equal(items.length, 20);
  assert.ok(turns >= 4, `${turns} turns`);
});
