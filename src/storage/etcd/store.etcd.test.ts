import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { needs } from "../../../test/support/tools.ts";
import { CachedStore } from "../cached-store.ts";
import { describeStore } from "../store.suite.ts";
import { EtcdStore, type EtcdStoreOptions } from "./store.ts";

/**
 * A write that comes back proves that the cache's watch is established. Until then etcd may compact revisions that the
 * cache has not seen: the cache then reloads, and its watchers have to start over.
 */
async function assertFollows(store: CachedStore, key: string): Promise<void> {
  const before = await store.get(key);
  const written = await store.put(key, new Uint8Array(1), before?.modRevision ?? 0);
  assert.ok(written.ok);
  assert.equal((await store.get(key))?.modRevision, written.revision);
}

// The suites of one cluster run one after the other, since they compact. Clusters run concurrently, since tests mostly
// wait.
describe("the store suite on etcd", { concurrency: true, ...needs("etcd") }, () => {
  for (const members of [1, 3] as const) {
    describe(`etcd with ${members} member(s)`, { concurrency: 1 }, () => {
      let cluster: EtcdCluster;
      before(async () => {
        cluster = await startEtcd({ members });
      });
      after(() => cluster.stop());

      const open = (options: Partial<EtcdStoreOptions> = {}) =>
        new EtcdStore({ endpoints: cluster.endpoints, ...options });

      for (const transport of members === 1 ? (["frames", "http2"] as const) : (["frames"] as const)) {
        const openOver = async () => {
          const store = open({ transport });
          return { store, close: () => store.close() };
        };
        describeStore(`EtcdStore over ${transport}`, openOver, { isShared: true });
      }

      const openCached = async () => {
        const store = new CachedStore(open(), { prefix: "/suite-" });
        await store.ready;
        await assertFollows(store, "/suite-follows");
        return { store, close: () => store.close() };
      };
      describeStore("CachedStore over EtcdStore", openCached, { isShared: true });
    });
  }
});

describe("EtcdStore", needs("etcd"), () => {
  let cluster: EtcdCluster;
  let store: EtcdStore;
  before(async () => {
    cluster = await startEtcd();
    store = new EtcdStore({ endpoints: cluster.endpoints });
  });
  after(async () => {
    await store.close();
    await cluster.stop();
  });
  const bytes = (text: string) => new TextEncoder().encode(text);
  const write = async (key: string, value: Uint8Array = bytes(key)): Promise<number> => {
    const result = await store.put(key, value, 0);
    assert.ok(result.ok);
    return result.revision;
  };

  it("reports the revision that etcd was compacted to", async () => {
    assert.equal(await store.compactedRevision(), 0);
    const revision = await write("/compact/a");
    await store.compact(revision);
    assert.equal(await store.compactedRevision(), revision);
    await assert.rejects(store.compact(revision + 1000), { code: "future-revision" });
  });

  it("reports progress on request, and a cache catches up with writes outside of its prefix", async (t) => {
    const remote = new EtcdStore({ endpoints: cluster.endpoints });
    const progress = t.mock.method(remote, "requestProgress").mock;
    const cached = new CachedStore(remote, { prefix: "/in/" });
    await cached.ready;
    for (let i = 0; i < 3; i++) {
      const revision = await write(`/out/${i}`);
      progress.resetCalls();
      assert.ok((await cached.list("/in/")).revision >= revision);
      assert.ok(progress.callCount() > 0);
    }
    await cached.close();
  });

  it("reassembles large events", async () => {
    const large = new Uint8Array(1_200_000).fill(1);
    const revisions: number[] = [];
    for (let i = 0; i < 5; i++) revisions.push(await write(`/large/${i}`, large));
    const seen: number[] = [];
    for await (const batch of store.watch("/large/", (revisions[0] ?? 1) - 1, new AbortController().signal)) {
      for (const event of batch.events) assert.equal(event.entry?.value.length, large.length);
      seen.push(...batch.events.map((event) => event.revision));
      if (seen.length === 5) break;
    }
    assert.deepEqual(seen, revisions);
  });

  it("skips members that cannot be reached", async () => {
    const other = new EtcdStore({ endpoints: ["http://127.0.0.1:1", ...cluster.endpoints, "http://127.0.0.1:2"] });
    assert.ok((await other.revision()) > 0);
    await other.close();
    const none = new EtcdStore({ endpoints: ["http://127.0.0.1:1"], requestTimeoutMs: 200 });
    await assert.rejects(none.get("/a"), { code: "unavailable" });
    await none.close();
  });

  it("lists more entries than fit on one internal page", async () => {
    const count = 10_100;
    for (let i = 0; i < count; i += 500) {
      await Promise.all(Array.from({ length: Math.min(500, count - i) }, (_, j) => write(`/many/${i + j}`)));
    }
    const page = await store.list("/many/");
    assert.deepEqual([page.entries.length, page.remaining], [count, 0]);
    assert.equal(new Set(page.entries.map((entry) => entry.key)).size, count);
  });
});
