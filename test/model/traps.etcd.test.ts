import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { EtcdCluster } from "../support/etcd.ts";
import { needs } from "../support/tools.ts";
import { describeEvent, Objects } from "./objects.ts";
import { base64, compactEtcd, etcdCall, type ModelServer, Setting } from "./servers.ts";
import { Wire } from "./wire.ts";

/** Mistakes that etcd or systems around it have made with watches and revisions, one test each. */
describe("known traps", { ...needs("etcd") }, () => {
  const setting = new Setting();
  let etcd: EtcdCluster;
  let server: ModelServer;
  let wire: Wire;
  let objects: Objects;
  before(async () => {
    etcd = await setting.etcd();
    server = await setting.server(etcd);
    wire = new Wire(server.base);
    objects = new Objects(wire);
  });
  after(async () => {
    wire?.close();
    await setting.close();
  });
  const count = (wanted: number) => (events: unknown[]) => events.length >= wanted;
  const watched = async (query: string, wanted: number, withinMs?: number) =>
    (await objects.watch(query, count(wanted), withinMs)).map(describeEvent);

  test("delivers a deletion at exactly the compacted revision", async () => {
    await objects.create("doomed");
    const before = (await objects.list()).revision;
    await objects.remove("doomed");
    const deleted = (await objects.list()).revision;
    await compactEtcd(etcd, deleted);
    assert.deepEqual(await watched(`resourceVersion=${before}`, 1), [`DELETED doomed ${deleted}`]);
    const { names } = await objects.list(`resourceVersion=${deleted}&resourceVersionMatch=Exact`);
    assert.ok(!names.includes("doomed"));

    // A new server has to read from etcd, which no longer has the deleted value: the watch gets 410.
    const fresh = await setting.server(etcd);
    const late = new Wire(fresh.base);
    const received = await new Objects(late).watch(`resourceVersion=${before}`, count(1));
    assert.deepEqual(received.map(describeEvent), ["ERROR 410"]);
    late.close();
    await fresh.stop();
  });

  test("a watch from before the server's start is complete, and rejected if etcd has compacted", async () => {
    const first = await objects.create("early", "1");
    const versions = [await objects.replace("early", "2"), await objects.replace("early", "3")];
    const fresh = await setting.server(etcd);
    const late = new Wire(fresh.base);
    const other = new Objects(late);
    const expected = versions.map((version) => `MODIFIED early ${version}`);
    const next = await objects.replace("early", "4");
    const tell = async (from: number, wanted: number) =>
      (await other.watch(`resourceVersion=${from}`, count(wanted))).map(describeEvent);
    assert.deepEqual(await tell(first, 3), [...expected, `MODIFIED early ${next}`]);
    const old = await other.list(`resourceVersion=${first}&resourceVersionMatch=Exact`);
    assert.equal(old.items.find((thing) => thing.metadata.name === "early")?.data?.text, "1");
    await compactEtcd(etcd, next);
    assert.deepEqual(await tell(first, 3), ["ERROR 410"]);
    await other.list(`resourceVersion=${first}&resourceVersionMatch=Exact`, 410);
    late.close();
    await fresh.stop();
  });

  test("a watch from a future version delivers nothing older", async () => {
    const now = (await objects.list()).revision;
    const future = now + 5;
    const watching = await objects.openWatch(`resourceVersion=${future}&allowWatchBookmarks=true&timeoutSeconds=4`);
    const versions: number[] = [];
    for (let i = 0; i < 8; i++) versions.push(await objects.create(`future-${i}`));
    const received = (await watching(() => false)).map(describeEvent);
    const expected = versions.flatMap((version, i) => (version > future ? [`ADDED future-${i} ${version}`] : []));
    assert.ok(expected.length > 0 && expected.length < 8);
    assert.deepEqual(received.slice(0, -1), expected);
    const bookmark = Number(/^BOOKMARK (\d+)$/.exec(received.at(-1) ?? "")?.[1]);
    assert.ok(bookmark >= (versions.at(-1) ?? 0), received.at(-1));
  });

  test("a watch from 0 delivers the current state first and every later change once", async () => {
    const { names, revision } = await objects.list();
    const watching = await objects.openWatch("resourceVersion=0&allowWatchBookmarks=true");
    const made = [await objects.create("zero-1"), await objects.create("zero-2")];
    const events = await watching(count(names.length + 3));
    const objectsTold = events.flatMap((event) => (event.type === "ADDED" ? [event.object.metadata.name] : []));
    assert.deepEqual(objectsTold, [...names, "zero-1", "zero-2"]);
    const end = events[names.length];
    assert.ok(end?.type === "BOOKMARK" && Number(end.object.metadata.resourceVersion) >= revision);
    assert.deepEqual(events.slice(-2).map(describeEvent), [`ADDED zero-1 ${made[0]}`, `ADDED zero-2 ${made[1]}`]);
  });

  test("delivers the changes of one transaction once each, and together", async () => {
    const put = (name: string) => {
      const object = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "default", uid: `uid-${name}` },
      };
      const key = base64(`/registry/configmaps/default/${name}`);
      return { request_put: { key, value: base64(JSON.stringify(object)) } };
    };
    const before = (await objects.list()).revision;
    const watching = watched(`resourceVersion=${before}`, 3);
    const { header } = await etcdCall(etcd, "kv/txn", { success: [put("twin-1"), put("twin-2")] });
    const both = Number(header.revision);
    const after = await objects.create("after-the-twins");
    const expected = [`ADDED twin-1 ${both}`, `ADDED twin-2 ${both}`, `ADDED after-the-twins ${after}`];
    assert.deepEqual(await watching, expected);
    assert.deepEqual(await watched(`resourceVersion=${before}`, 3), expected, "from history");
    assert.deepEqual(await watched(`resourceVersion=${both}`, 1), expected.slice(2), "after both");
    const twins = (names: string[]) => names.filter((name) => name.startsWith("twin"));
    const at = async (revision: number) => {
      const { names } = await objects.list(`resourceVersion=${revision}&resourceVersionMatch=Exact`);
      return twins(names);
    };
    assert.deepEqual([await at(before), await at(both)], [[], ["twin-1", "twin-2"]]);
  });

  test("a bookmark is never ahead of an event: a watch resumed from it misses nothing", async () => {
    const start = (await objects.list()).revision;
    let isWriting = true;
    const made: string[] = [];
    const writing = (async () => {
      for (let i = 0; isWriting; i++) made.push(`ADDED mark-${i} ${await objects.create(`mark-${i}`)}`);
    })();
    const follow = async () => {
      const received: string[] = [];
      for (let from = start, round = 0; round < 2; round++) {
        const events = await objects.watch(
          `resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=3`,
          () => false,
        );
        const last = events.findLastIndex((event) => event.type === "BOOKMARK");
        const bookmark = events[last];
        // Events after the bookmark are dropped, as if the client had only stored the bookmark.
        received.push(...events.slice(0, last).map(describeEvent));
        if (bookmark?.type === "BOOKMARK") from = Number(bookmark.object.metadata.resourceVersion);
      }
      return received.filter((text) => !text.startsWith("BOOKMARK"));
    };
    const all = await Promise.all([follow(), follow(), follow()]);
    isWriting = false;
    await writing;
    for (const received of all) {
      assert.ok(received.length > 10, "there was something to miss");
      assert.deepEqual(received, made.slice(0, received.length));
    }
  });

  test("rejects pages and versions that are compacted, with a way to continue", async () => {
    const first = await objects.list("limit=3");
    await objects.create("zz-between-pages");
    await compactEtcd(etcd, (await objects.list()).revision);
    const fresh = await setting.server(etcd);
    const late = new Wire(fresh.base);
    const refused = await new Objects(late).list(`limit=3&continue=${first.next}`, 410);
    const rest = await new Objects(late).list(`continue=${refused.next}`);
    const all = await objects.list();
    assert.deepEqual([...first.names, ...rest.names], all.names, "what was added later shows up");
    assert.ok(rest.revision > first.revision);
    late.close();
    await fresh.stop();
  });

  test("an unreadable value only fails the requests that read it", async () => {
    const key = base64("/registry/configmaps/default/garbage");
    const { revision } = await objects.list();
    const selecting = watched(`resourceVersion=${revision}&labelSelector=app`, 1);
    const plain = watched(`resourceVersion=${revision}`, 2);
    await etcdCall(etcd, "kv/put", { key, value: base64("no object at all") });
    assert.deepEqual([await selecting, await plain], [[], []], "their streams end");
    await assert.rejects(objects.list());
    await assert.rejects(objects.list("labelSelector=app"));
    const sane = await objects.create("sane");
    assert.equal(Number((await objects.get("sane"))?.metadata.resourceVersion), sane);
    await etcdCall(etcd, "kv/deleterange", { key });
    const after = await objects.list();
    assert.ok(after.names.includes("sane"));
    const last = await objects.create("after-the-garbage");
    assert.deepEqual(await watched(`resourceVersion=${after.revision}`, 1), [`ADDED after-the-garbage ${last}`]);
  });
});
