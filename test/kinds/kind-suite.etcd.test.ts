import { startEtcd } from "../support/etcd.ts";
import { needs } from "../support/tools.ts";
import { suiteOfEveryKind } from "./every-kind.ts";

suiteOfEveryKind(
  "etcd",
  async (_, cleanUps) => {
    const etcd = await startEtcd();
    cleanUps.push(() => etcd.stop());
    return { type: "etcd", servers: etcd.endpoints };
  },
  needs("etcd"),
);
