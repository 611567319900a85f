import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { needs, needsStore } from "../support/tools.ts";
import type { World } from "./actors.ts";
import { runModel } from "./model.ts";
import { chooseSeed, type Random, scaled } from "./random.ts";
import { compactEtcd, Setting } from "./servers.ts";

const INTERVAL_MS = 1000;
/** Half of the interval, since the clients' timers are not exact. */
const KEPT_MS = INTERVAL_MS / 2;
const flags = [`--etcd-compaction-interval=${INTERVAL_MS}ms`];

describe("one history while it is being compacted", { concurrency: 2 }, () => {
  const setting = new Setting();
  after(() => setting.close());

  for (const store of ["memory", "sqlite", "etcd"] as const) {
    test(`every second, on ${store}: only older revisions are rejected`, needsStore(store), async (t) => {
      const server = await setting.server(store === "etcd" ? await setting.etcd() : store, flags);
      const run = { bases: [server.base], seed: chooseSeed(), seconds: scaled(5) };
      t.diagnostic(await runModel({ ...run, tolerance: { keptMs: KEPT_MS } }));
      await server.stop();
    });
  }

  test("to the newest version, repeatedly, without the servers' knowledge", needs("etcd"), async (t) => {
    const etcd = await setting.etcd();
    const servers = await Promise.all([setting.server(etcd), setting.server(etcd, flags)]);
    const fault = async (world: World, random: Random) => {
      for (const end = Date.now() + scaled(5) * 1000; Date.now() < end; await sleep(random.between(50, 300)))
        if (world.reached > 0) await compactEtcd(etcd, world.reached).catch(() => undefined);
    };
    const bases = servers.map((server) => server.base);
    const run = { bases, seed: chooseSeed(), seconds: 0, fault, tolerance: { keptMs: 0 } };
    t.diagnostic(await runModel(run));
    await Promise.all(servers.map((server) => server.stop()));
  });
});
