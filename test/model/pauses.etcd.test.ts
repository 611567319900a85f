import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import type { World } from "./actors.ts";
import { runModel } from "./model.ts";
import { Objects } from "./objects.ts";
import { chooseSeed, type Random, scaled } from "./random.ts";
import { leaderOf, type ModelServer, Setting } from "./servers.ts";
import { Wire } from "./wire.ts";

describe("pauses and partitions", { concurrency: 2, ...needs("etcd") }, () => {
  const setting = new Setting();
  after(() => setting.close());

  /** Writes acknowledged by one server are visible on the other at once, while `around` disturbs it. */
  async function readOnOther(
    servers: readonly [ModelServer, ModelServer],
    rounds: number,
    around: (write: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const [writing, reading] = [new Wire(servers[0].base), new Wire(servers[1].base)];
    const [one, other] = [new Objects(writing), new Objects(reading)];
    let attempts = 0;
    for (let round = 0; round < rounds; round++) {
      let made: { readonly name: string; readonly version: number } | undefined;
      await around(async () => {
        const name = `object-${attempts++}`;
        made = { name, version: await one.create(name) };
      });
      assert.ok(made);
      const [thing, list] = await Promise.all([other.get(made.name), other.list()]);
      assert.equal(Number(thing?.metadata.resourceVersion), made.version);
      assert.ok(list.names.includes(made.name) && list.revision >= made.version);
      await one.remove(made.name);
      assert.equal(await other.get(made.name), undefined);
    }
    for (const wire of [writing, reading]) wire.close();
  }

  test("a server that was paused does not serve stale state", async () => {
    const etcd = await setting.etcd();
    const servers = [await setting.server(etcd), await setting.server(etcd)] as const;
    await readOnOther(servers, 3, async (write) => {
      servers[1].freeze(true);
      await write();
      await sleep(300);
      servers[1].freeze(false);
    });
    await Promise.all(servers.map((server) => server.stop()));
  });

  test("a server with a slow connection to etcd is slow, and does not serve stale state", async () => {
    const etcd = await setting.etcd();
    const relay = new TcpProxy(Number(new URL(etcd.endpoints[0] ?? "").port));
    relay.delayMs = 75;
    await relay.listen();
    setting.atEnd(() => relay.close());
    const late = await setting.server(etcd, [`--etcd-servers=http://127.0.0.1:${relay.port}`]);
    const servers = [await setting.server(etcd), late] as const;
    await readOnOther(servers, 3, (write) => write());
    await Promise.all(servers.map((server) => server.stop()));
  });

  test("stale reads of an etcd leader that was paused are not served", async () => {
    const etcd = await setting.etcd(3);
    const servers = [await setting.server(etcd), await setting.server(etcd)] as const;
    await readOnOther(servers, 1, async (write) => {
      const leader = await leaderOf(etcd);
      etcd.freeze(leader, true);
      try {
        const isWritten = () =>
          write().then(
            () => true,
            () => false,
          );
        await eventually(isWritten, { everyMs: 100 });
      } finally {
        etcd.freeze(leader, false);
      }
    });
    await Promise.all(servers.map((server) => server.stop()));
  });

  test("watches do not go back in time when etcd members lag behind and connections break", async (t) => {
    const etcd = await setting.etcd(3);
    const proxies = await Promise.all(
      etcd.endpoints.map(async (endpoint) => {
        const proxy = new TcpProxy(Number(new URL(endpoint).port));
        await proxy.listen();
        setting.atEnd(() => proxy.close());
        return proxy;
      }),
    );
    const endpoints = proxies.map((proxy) => `http://127.0.0.1:${proxy.port}`).join(",");
    const server = await setting.server(etcd, [`--etcd-servers=${endpoints}`]);
    const fault = async (world: World, random: Random) => {
      for (const end = Date.now() + scaled(5) * 1000; Date.now() < end; ) {
        const member = random.between(0, 2);
        etcd.freeze(member, true);
        world.count("members stopped");
        await sleep(random.between(100, 700));
        for (const proxy of proxies) if (random.percent(60)) proxy.cut();
        etcd.freeze(member, false);
        await sleep(random.between(0, 300));
        for (const proxy of proxies) if (random.percent(40)) proxy.cut();
        await sleep(random.between(100, 500));
      }
    };
    t.diagnostic(
      await runModel({ bases: [server.base], seed: chooseSeed(), seconds: 0, tolerance: { outages: true }, fault }),
    );
    await server.stop();
  });
});
