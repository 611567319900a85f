import { after, describe, test } from "node:test";
import { needs, needsStore } from "../support/tools.ts";
import { runModel } from "./model.ts";
import { chooseSeed, scaled } from "./random.ts";
import { Setting } from "./servers.ts";

const options = { concurrency: 2 };

describe("random writers, listers, pagers and watchers agree on one history", options, () => {
  const setting = new Setting();
  after(() => setting.close());

  for (const store of ["memory", "sqlite", "etcd"] as const) {
    test(`on ${store}`, needsStore(store), async (t) => {
      const server = await setting.server(store === "etcd" ? await setting.etcd() : store);
      t.diagnostic(await runModel({ bases: [server.base], seed: chooseSeed(), seconds: scaled(4) }));
      await server.stop();
    });
  }

  test("on etcd, through two servers at once", needs("etcd"), async (t) => {
    const etcd = await setting.etcd();
    const servers = await Promise.all([setting.server(etcd), setting.server(etcd)]);
    const bases = servers.map((server) => server.base);
    t.diagnostic(await runModel({ bases, seed: chooseSeed(), seconds: scaled(4) }));
    await Promise.all(servers.map((server) => server.stop()));
  });
});
