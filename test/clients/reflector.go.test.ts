import { after, before, describe, test } from "node:test";
import { chooseSeed } from "../model/random.ts";
import { Setting } from "../model/servers.ts";
import { rideStorm } from "../model/storm.ts";
import { tokens } from "../support/oracle.ts";
import { needs, needsStore } from "../support/tools.ts";
import { buildReflector, startReflector } from "./reflector-program.ts";

const options = { concurrency: 2, ...needs("go") };

describe("client-go's reflector stays exact over disconnects, compactions and restarts", options, () => {
  const setting = new Setting();
  let program: string;
  before(async () => {
    program = await buildReflector();
  });
  after(() => setting.close());

  for (const store of ["sqlite", "etcd"] as const) {
    test(`on ${store}`, needsStore(store), async (t) => {
      const follow = async (address: string) => startReflector(program, address, tokens.admin);
      t.diagnostic(await rideStorm({ setting, store, seed: chooseSeed(), follow }));
    });
  }
});
