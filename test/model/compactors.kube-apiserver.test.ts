import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { EtcdCluster } from "../support/etcd.ts";
import { startOracle } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { Objects } from "./objects.ts";
import { base64, etcdCall, Setting } from "./servers.ts";
import { Wire } from "./wire.ts";

const INTERVAL_MS = 1500;
const flags = [`--etcd-compaction-interval=${INTERVAL_MS / 1000}s`];

/** How often any server has had a turn, and the revision of its compaction. */
async function turns(etcd: EtcdCluster): Promise<{ count: number; revision: number }> {
  const { kvs } = await etcdCall(etcd, "kv/range", { key: base64("compact_rev_key") });
  const [entry] = kvs ?? [];
  const value = Buffer.from(entry?.value ?? "", "base64").toString();
  return { count: Number(entry?.version ?? 0), revision: Number(value) };
}

const isKept = (etcd: EtcdCluster, revision: number) =>
  etcdCall(etcd, "kv/range", { key: base64("any"), revision: String(revision) }).then(
    () => true,
    () => false,
  );

describe("compaction of a shared etcd", () => {
  const setting = new Setting();
  after(() => setting.close());

  test(
    "two Binnacle servers and kube-apiserver take turns, and the remaining ones continue",
    needs("kube-apiserver", "etcd"),
    async (t) => {
      const etcd = await setting.etcd();
      const [one, other] = await Promise.all([setting.server(etcd, flags), setting.server(etcd, flags)]);
      const oracle = await startOracle({ etcdEndpoint: etcd.endpoints[0], flags });
      setting.atEnd(() => oracle.kill());
      const wire = new Wire(one.base);
      const objects = new Objects(wire);

      const observe = async () => {
        const before = await turns(etcd);
        const began = Date.now();
        const version = await objects.create(`seen-${before.count}`);
        const what = "four more turns";
        const hadTurns = async () => (await turns(etcd)).count >= before.count + 4;
        await eventually(hadTurns, { everyMs: 50, what });
        const now = await turns(etcd);
        const elapsed = (Date.now() - began) / INTERVAL_MS;
        assert.ok(now.count - before.count <= Math.ceil(elapsed) + 1, "one turn per interval, of any server");
        assert.ok(now.revision > before.revision && now.revision >= version, `${now.revision} after ${version}`);
        assert.equal(await isKept(etcd, version - 1), false, "what is older than two intervals is gone");
        assert.ok(await isKept(etcd, (await objects.list()).revision));
        return `${now.count - before.count} compactions in ${elapsed.toFixed(1)} intervals`;
      };
      t.diagnostic(`with all three: ${await observe()}`);
      await oracle.kill();
      await other.crash();
      t.diagnostic(`with one of ours: ${await observe()}`);
      wire.close();
      await one.stop();
    },
  );

  test("an interval of 0 leaves compaction to others", needs("etcd"), async () => {
    const etcd = await setting.etcd();
    const server = await setting.server(etcd, ["--etcd-compaction-interval=0"]);
    assert.deepEqual(await turns(etcd), { count: 0, revision: 0 });
    const began = Date.now();
    const other = await setting.server(etcd, flags);
    await eventually(async () => (await turns(etcd)).count >= 2, { everyMs: 50 });
    const elapsed = (Date.now() - began) / INTERVAL_MS;
    assert.ok((await turns(etcd)).count <= Math.ceil(elapsed) + 1, "only the other has turns, one in an interval");
    await Promise.all([server.stop(), other.stop()]);
  });
});
