import { after, before, describe } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { CachedStore } from "../cached-store.ts";
import { describeStore } from "../store.suite.ts";
import { EtcdStore } from "./store.ts";

for (const members of [1, 3] as const) {
  describe(`etcd with ${members} member(s)`, () => {
    let cluster: EtcdCluster;
    before(async () => {
      cluster = await startEtcd({ members });
    });
    after(() => cluster.stop());

    describeStore("EtcdStore", async () => {
      const store = new EtcdStore({ endpoints: cluster.endpoints });
      return { store, close: () => store.close() };
    });

    describeStore("CachedStore over EtcdStore", async () => {
      const store = new CachedStore(new EtcdStore({ endpoints: cluster.endpoints }), { prefix: "/suite-" });
      await store.ready;
      return { store, close: () => store.close() };
    });
  });
}
