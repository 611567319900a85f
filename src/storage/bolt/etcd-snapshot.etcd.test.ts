import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { needs, requireTool } from "../../../test/support/tools.ts";
import { EtcdStore } from "../etcd/store.ts";
import type { Entry } from "../store.ts";
import { EtcdSnapshot } from "./etcd-snapshot.ts";

const run = promisify(execFile);

suite("a snapshot of etcd", needs("etcd", "etcdctl"), () => {
  let folder: string;
  let etcd: EtcdCluster;
  let store: EtcdStore;
  let expected: readonly Entry[];
  let file: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-snapshot-"));
    etcd = await startEtcd();
    store = new EtcdStore({ endpoints: etcd.endpoints });
    const value = (size: number) => Buffer.alloc(size, `${size}`);
    // Values of many sizes, some of several pages, and enough keys for several levels of branches.
    const put = (index: number) => store.put(`/registry/many/${index}`, value((index * 37) % 300), 0);
    // Few at a time: a slow disk must not make the last ones wait for all others.
    for (let start = 0; start < 3000; start += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => put(start + index)));
    for (const size of [0, 1, 4000, 4096, 5000, 100_000, 1_000_000])
      await store.put(`/registry/size/${size}`, value(size), 0);
    await store.put("/elsewhere/x", value(1), 0);
    await store.put("/registry/ключ/😀", value(10), 0);
    for (let index = 0; index < 3000; index += 3) {
      const entry = await store.get(`/registry/many/${index}`);
      assert.ok(entry);
      if (index % 2 === 0) await store.delete(entry.key, entry.modRevision);
      else await store.put(entry.key, value(index), entry.modRevision);
    }
    expected = (await store.list("/registry/")).entries;
    file = path.join(folder, "snapshot.db");
    await run(requireTool("etcdctl"), ["--endpoints", etcd.endpoints.join(), "snapshot", "save", file]);
  });
  after(async () => {
    await store?.close();
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const read = (from: string, prefix = "/registry/") => {
    const snapshot = EtcdSnapshot.open(from, prefix);
    try {
      return { entries: [...snapshot.entries()], revision: snapshot.revision };
    } finally {
      snapshot.close();
    }
  };

  test("has the keys, values and revisions that etcd shows", async () => {
    const { entries, revision } = read(file);
    assert.equal(entries.length, expected.length);
    for (const [index, entry] of entries.entries()) {
      const { key, createRevision, modRevision, value } = expected[index] as Entry;
      assert.deepEqual([entry.key, entry.createRevision, entry.modRevision], [key, createRevision, modRevision]);
      assert.equal(Buffer.compare(entry.value, value), 0, key);
    }
    assert.equal(revision, await store.revision());
    assert.deepEqual(
      read(file, "/elsewhere/").entries.map(({ key }) => key),
      ["/elsewhere/x"],
    );
  });

  test("is read the same after a compaction", async () => {
    await store.compact(await store.revision());
    const later = path.join(folder, "compacted.db");
    await run(requireTool("etcdctl"), ["--endpoints", etcd.endpoints.join(), "snapshot", "save", later]);
    const { entries } = read(later);
    assert.deepEqual(
      entries.map(({ key, modRevision }) => [key, modRevision]),
      expected.map(({ key, modRevision }) => [key, modRevision]),
    );
  });

  test("rejects a damaged snapshot, wherever the damage is", async () => {
    const damaged = path.join(folder, "damaged.db");
    const { length } = await readFile(file);
    await copyFile(file, damaged);
    await truncate(damaged, length - 4096);
    assert.throws(() => read(damaged), /SHA-256|truncated/);
    await writeFile(damaged, "no database at all".repeat(100));
    assert.throws(() => read(damaged), /not a bbolt database/);
    // Without the hash at the end, only the reader itself can detect damage.
    for (let at = 0; at < length; at += Math.ceil(length / 25)) {
      await copyFile(file, damaged);
      await truncate(damaged, length - 32);
      const handle = await open(damaged, "r+");
      await handle.write(Buffer.alloc(4096, 0xff), 0, 4096, at - (at % 4096));
      await handle.close();
      try {
        const { entries } = read(damaged);
        // The page is free, or has only values.
        assert.ok(entries.length <= expected.length);
      } catch (error) {
        assert.ok(error instanceof Error && ["BoltError", "ProtobufError"].includes(error.name), String(error));
      }
    }
  });
});
