import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { needs } from "../support/tools.ts";
import { Objects } from "./objects.ts";
import { chooseSeed, Random } from "./random.ts";
import { type ModelServer, Setting } from "./servers.ts";
import { Wire } from "./wire.ts";

describe("what was acknowledged stays", { concurrency: 2 }, () => {
  const setting = new Setting();
  after(() => setting.close());

  async function use<T>(server: ModelServer, action: (objects: Objects) => Promise<T>): Promise<T> {
    const wire = new Wire(server.base);
    try {
      return await action(new Objects(wire));
    } finally {
      wire.close();
    }
  }

  test("a crash right after the response, on SQLite", async () => {
    const server = await setting.server("sqlite");
    let newest = 0;
    for (let i = 0; i < 4; i++) {
      const version = await use(server, (objects) => objects.create(`kept-${i}`));
      await server.crash();
      await server.start();
      await use(server, async (objects) => {
        assert.equal(Number((await objects.get(`kept-${i}`))?.metadata.resourceVersion), version);
        assert.ok(version > newest, "versions rise");
        newest = (await objects.list()).revision;
        assert.ok(newest >= version);
      });
    }
    await server.stop();
  });

  test("a crash of the only etcd member right after the response", needs("etcd"), async () => {
    const etcd = await setting.etcd();
    const server = await setting.server(etcd);
    let newest = 0;
    for (let i = 0; i < 3; i++) {
      await use(server, async (objects) => {
        const version = await objects.create(`kept-${i}`);
        await etcd.kill(0);
        await etcd.restart(0);
        assert.equal(Number((await objects.get(`kept-${i}`))?.metadata.resourceVersion), version);
        assert.ok(version > newest, "versions rise");
        newest = (await objects.list()).revision;
        assert.ok(newest >= version);
      });
    }
    await server.stop();
  });

  test("a kill during compaction: versions do not go back, even after a deletion", async (t) => {
    const seed = chooseSeed();
    t.diagnostic(`MODEL_SEED=${seed}`);
    const random = new Random(seed);
    const server = await setting.server("sqlite", ["--etcd-compaction-interval=100ms"]);
    for (let i = 0; i < 4; i++) {
      const deleted = await use(server, async (objects) => {
        for (let j = 0; j < 20; j++) await objects.create(`gone-${j}`, "x".repeat(2000));
        for (let j = 0; j < 20; j++) await objects.remove(`gone-${j}`);
        return (await objects.list()).revision;
      });
      // Sometimes long enough for the compaction to pass the last write, which was a deletion.
      await sleep(random.between(0, 300));
      await server.crash();
      await server.start();
      await use(server, async (objects) => {
        const list = await objects.list();
        assert.ok(list.revision >= deleted, `${list.revision} after ${deleted}`);
        assert.ok(!list.names.some((name) => name.startsWith("gone")));
        assert.ok((await objects.create(`later-${i}`)) > deleted);
      });
    }
    await server.stop();
  });
});
