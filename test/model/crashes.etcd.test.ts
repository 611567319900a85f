import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { needs, needsStore } from "../support/tools.ts";
import type { World } from "./actors.ts";
import { runModel } from "./model.ts";
import { chooseSeed, type Random, scaled } from "./random.ts";
import { leaderOf, type ModelServer, Setting } from "./servers.ts";

const outages = { outages: true };

/** Kills servers at random times, and restarts them. */
function killing(servers: readonly [ModelServer, ...ModelServer[]], times: number) {
  return async (world: World, random: Random) => {
    for (let i = 0; i < times; i++) {
      await sleep(random.between(300, 1200));
      const server = random.pick(servers);
      await server.crash();
      world.count("kills");
      await server.start();
    }
    await sleep(500);
  };
}

describe("one history over kill -9", { concurrency: 2 }, () => {
  const setting = new Setting();
  after(() => setting.close());

  for (const store of ["sqlite", "etcd"] as const) {
    test(
      `of the server on ${store}: no acknowledged write is lost and every watch resumes`,
      needsStore(store),
      async (t) => {
        const server = await setting.server(store === "etcd" ? await setting.etcd() : store);
        const fault = killing([server], Math.round(scaled(3)));
        const run = { bases: [server.base], seed: chooseSeed(), seconds: 0, tolerance: outages, fault };
        t.diagnostic(await runModel(run));
        await server.stop();
      },
    );
  }

  test("of one of two servers and of etcd's leader: both servers have the same history", needs("etcd"), async (t) => {
    const etcd = await setting.etcd(3);
    const servers = [await setting.server(etcd), await setting.server(etcd)] as const;
    const killServers = killing(servers, 1);
    const fault = async (world: World, random: Random) => {
      for (let i = 0; i < Math.round(scaled(2)); i++) {
        await sleep(random.between(300, 1000));
        const leader = await leaderOf(etcd);
        await etcd.kill(leader);
        world.count("kills of the leader");
        await sleep(random.between(300, 1500));
        await etcd.restart(leader);
      }
      await killServers(world, random);
    };
    const bases = servers.map((server) => server.base);
    t.diagnostic(await runModel({ bases, seed: chooseSeed(), seconds: 0, tolerance: outages, fault }));
    await Promise.all(servers.map((server) => server.stop()));
  });
});
