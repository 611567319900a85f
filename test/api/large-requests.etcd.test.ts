import { startEtcd } from "../support/etcd.ts";
import { needs } from "../support/tools.ts";
import { testLargeRequests } from "./large-requests.suite.ts";

testLargeRequests(
  "etcd",
  async () => {
    const etcd = await startEtcd();
    const store = { type: "etcd", servers: etcd.endpoints } as const;
    return {
      one: { store, etcdPrefix: "/one" },
      other: { store, etcdPrefix: "/other" },
      stop: () => etcd.stop(),
    };
  },
  needs("etcd"),
);
