import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../../test/support/etcd.ts";
import { eventually } from "../../../../test/support/time.ts";
import { needs } from "../../../../test/support/tools.ts";
import { EtcdStore } from "../../../storage/etcd/store.ts";
import { startServer } from "../../library/start-server.ts";
import { runCommandLine } from "../command-line.ts";
import { silentIo } from "../io.suite.ts";

suite("binnacle import and export with etcd", needs("etcd"), () => {
  let folder: string;
  let etcd: EtcdCluster;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-transfer-"));
    etcd = await startEtcd();
  });
  after(async () => {
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const io = silentIo({}, folder);
    const code = await runCommandLine(args, io);
    return { code, out: io.out(), err: io.err() };
  }

  test("keeps everything but resource versions, page by page", async () => {
    const count = 1200;
    const objects = Array.from({ length: count }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: `c-${String(index).padStart(4, "0")}`,
        namespace: "shop",
        uid: `uid-${index}`,
        resourceVersion: String(index + 5),
        creationTimestamp: "2026-01-01T00:00:00Z",
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "uid-0" }],
      },
      data: { index: String(index) },
    }));
    const file = path.join(folder, "dump.json");
    await writeFile(file, objects.map((object) => `${JSON.stringify(object)}\n`).join(""));
    const store = ["--etcd-servers", etcd.endpoints.join(), "--etcd-prefix", "/here"];
    const imported = await run("import", "-f", file, ...store);
    assert.deepEqual(imported, { code: 0, out: `Imported ${count} objects with new resource versions.\n`, err: "" });
    const exported = await run("export", ...store, "-o", "json");
    const found = exported.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const versions = new Set(found.map(({ metadata }) => metadata.resourceVersion));
    assert.equal(versions.size, count);
    const withoutVersion = (object: (typeof objects)[number]) => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: "" },
    });
    assert.deepEqual(found.map(withoutVersion), objects.map(withoutVersion));
    const kept = await run("import", "-f", file, ...store, "--resource-versions", "keep");
    assert.match(kept.err, /--resource-versions=keep: etcd assigns its own resource versions/);
  });

  test("does not export records of running servers", async () => {
    const servers = etcd.endpoints;
    const store = { type: "etcd", servers } as const;
    const options = { store, etcdPrefix: "/served", bindAddress: "127.0.0.1", advertiseAddress: "192.0.2.1" };
    await using server = await startServer({ ...options, log: false });
    const client = new EtcdStore({ endpoints: servers });
    try {
      for (const record of ["masterleases/192.0.2.1", "binnacle/leaders/controllers"]) {
        await eventually(() => client.get(`/served/${record}`), { what: record });
      }
    } finally {
      await client.close();
    }
    const exported = await run("export", "--etcd-servers", servers.join(), "--etcd-prefix", "/served", "-o", "json");
    assert.deepEqual([exported.code, exported.err], [0, ""]);
    const kinds = exported.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind);
    assert.ok(kinds.includes("Namespace") && kinds.includes("ClusterRole"), server.url);
  });
});
