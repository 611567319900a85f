import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { eventually } from "../../../test/support/time.ts";
import { needs } from "../../../test/support/tools.ts";
import { StoreError, type WriteResult } from "../store.ts";
import { EtcdStore } from "./store.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a write whose response is lost", needs("etcd"), () => {
  let cluster: EtcdCluster;
  let proxy: TcpProxy;
  let direct: EtcdStore;
  let store: EtcdStore;
  let key = "";
  let tests = 0;
  before(async () => {
    cluster = await startEtcd();
    direct = new EtcdStore({ endpoints: cluster.endpoints });
  });
  after(async () => {
    await direct.close();
    await cluster.stop();
  });
  beforeEach(async () => {
    proxy = new TcpProxy(Number(new URL(cluster.endpoints[0] ?? "").port));
    await proxy.listen();
    store = new EtcdStore({ endpoints: [`http://127.0.0.1:${proxy.port}`], requestTimeoutMs: 3000 });
    await store.revision();
    key = `/lost/${tests++}`;
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  const created = async (): Promise<number> => revisionOf(await direct.put(key, bytes("first"), 0));

  it("is sent again if it did not arrive and cannot have been overtaken", async () => {
    const first = await created();
    proxy.dropsRequests = true;
    const writing = store.put(key, bytes("second"), first);
    await eventually(() => proxy.droppedBytes > 0);
    proxy.cut();
    const second = revisionOf(await writing);
    assert.equal(second, first + 1);
    assert.equal((await direct.get(key))?.modRevision, second);
  });

  it("fails if another write took its place", async () => {
    const first = await created();
    proxy.dropsRequests = true;
    const writing = store.put(key, bytes("second"), first);
    const deleting = store.delete(key, first);
    await eventually(() => proxy.droppedBytes > 0);
    const other = revisionOf(await direct.put(key, bytes("other"), first));
    const last = revisionOf(await direct.put(key, bytes("another"), other));
    proxy.cut();
    for (const result of await Promise.all([writing, deleting])) {
      assert.ok(!result.ok);
      assert.equal(result.current?.modRevision, last);
    }
  });

  it("has an unknown outcome if it arrived, since an equal write of another client looks the same", async () => {
    const first = await created();
    proxy.dropsAnswers = true;
    const writing = outcome(store.put(key, bytes("second"), first));
    await eventually(async () => (await direct.get(key))?.modRevision !== first);
    proxy.cut();
    assert.equal(await writing, "unavailable");
    const current = await direct.get(key);
    proxy.dropsAnswers = true;
    const deleting = outcome(store.delete(key, current?.modRevision ?? 0));
    await eventually(async () => (await direct.get(key)) === undefined);
    proxy.cut();
    assert.equal(await deleting, "unavailable");
  });

  it("has an unknown outcome if it was a create, since it may still arrive", async () => {
    proxy.dropsRequests = true;
    const writing = outcome(store.put(key, bytes("first"), 0));
    await eventually(() => proxy.droppedBytes > 0);
    proxy.cut();
    assert.equal(await writing, "unavailable");
    assert.equal(await direct.get(key), undefined);
  });

  it("times out if there is no response", async () => {
    const impatient = new EtcdStore({ endpoints: [`http://127.0.0.1:${proxy.port}`], requestTimeoutMs: 300 });
    await impatient.revision();
    proxy.dropsRequests = true;
    assert.equal(await outcome(impatient.put(key, bytes("first"), 0)), "timeout");
    assert.equal(await outcome(impatient.get(key)), "timeout");
    await impatient.close();
  });

  it("does not disturb a watch, which resumes where it was", async () => {
    const first = await created();
    const abort = new AbortController();
    const seen: number[] = [];
    const watching = (async () => {
      for await (const batch of store.watch(key, first - 1, abort.signal)) {
        seen.push(...batch.events.map((event) => event.revision));
      }
    })();
    const expected = [first];
    for (let i = 0; i < 4; i++) {
      await eventually(() => seen.length === expected.length);
      proxy.dropsAnswers = i % 2 === 0;
      expected.push(revisionOf(await direct.put(key, bytes(`${i}`), expected.at(-1) ?? 0)));
      proxy.cut();
      expected.push(revisionOf(await direct.put(key, bytes(`${i} again`), expected.at(-1) ?? 0)));
    }
    await eventually(() => seen.length === expected.length);
    abort.abort();
    await watching;
    assert.deepEqual(seen, expected);
  });
});

function revisionOf(result: WriteResult): number {
  assert.ok(result.ok);
  return result.revision;
}

async function outcome(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return "done";
  } catch (error) {
    assert.ok(error instanceof StoreError);
    return error.code;
  }
}
