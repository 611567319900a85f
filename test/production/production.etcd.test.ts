import { suite, test } from "node:test";
import { needs } from "../support/tools.ts";
import { buildCluster } from "./cluster.ts";
import { killedMember, rollingRestart, settled, steady } from "./phases.ts";

const linuxOnly = process.platform === "linux" ? {} : { skip: "only Linux has loopback addresses besides 127.0.0.1" };

/** The first half of `npm run compare production`. */
suite("the cluster of docs/production.md", {
  ...needs("etcd", "etcdctl", "kubectl", "openssl"),
  ...linuxOnly,
}, () => {
  test("loses nothing while its replicas are restarted in turn and the leader of etcd is killed", async (t) => {
    await using stack = new AsyncDisposableStack();
    const stage = await buildCluster(stack);
    stage.load.start();
    await steady(stage, 50);
    t.diagnostic(`rolling restart: ${await rollingRestart(stage)}`);
    t.diagnostic(`etcd: ${await killedMember(stage)}`);
    t.diagnostic(await settled(stage));
    await stage.load.stop();
    stage.load.check();
    const { requests, healed, failures } = stage.load.record;
    t.diagnostic(`${stage.load.ledger.acknowledged} writes, ${requests} requests, ${healed} healed by a retry`);
    for (const [reason, count] of failures) t.diagnostic(`${count} × ${reason}`);
  });
});
