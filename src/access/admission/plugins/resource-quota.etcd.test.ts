import assert from "node:assert/strict";
import { test } from "node:test";
import { startEtcd } from "../../../../test/support/etcd.ts";
import { needs } from "../../../../test/support/tools.ts";
import { CachedStore } from "../../../storage/cached-store.ts";
import { EtcdStore } from "../../../storage/etcd/store.ts";
import { createTogether } from "./resource-quota.suite.ts";

test(
  "32 writers on two servers with one etcd create exactly as many objects as are allowed",
  needs("etcd"),
  async (context) => {
    const etcd = await startEtcd();
    context.after(() => etcd.stop());
    const open = () => {
      const store = new CachedStore(new EtcdStore({ endpoints: etcd.endpoints, probeKey: "/registry/health" }), {
        prefix: "/registry/",
      });
      context.after(() => store.close());
      return store;
    };
    const stores = [open(), open()];
    const { created, refused, used } = await createTogether(stores, { writers: 32, each: 4, hard: 61 });
    assert.deepEqual({ created, refused, used }, { created: 61, refused: 67, used: "61" });
  },
);
