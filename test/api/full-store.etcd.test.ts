import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { etcdCall } from "../model/servers.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LARGE = "x".repeat(900_000);

describe("etcd that is full", { ...needs("etcd") }, () => {
  const create = (client: Client, name: string) =>
    client.call("POST", CONFIG_MAPS, { metadata: { name }, data: { large: LARGE } });

  it("the response, one log line and readiness report it, until etcd has space", async () => {
    const etcd = await startEtcd({ arguments: ["--quota-backend-bytes", String(8 * 1024 * 1024)] });
    const server = await startBinnacle({ etcdEndpoint: etcd.endpoints.join(",") });
    try {
      const client = clientFor(server.base, tokens.admin);
      const filling = [];
      for (let index = 0; index < 20; index++) filling.push(await create(client, `large-${index}`));
      const refused = filling.filter(({ status }) => status !== 201);
      assert.ok(refused.length > 2 && refused.length < 20, `${refused.length} refused`);
      for (const { status, body } of refused) {
        assert.deepEqual([status, body.message], [500, "etcdserver: mvcc: database space exceeded"]);
      }
      const unready = await client.call("GET", "/readyz");
      assert.equal(unready.status, 500);
      assert.match(unready.body, /^\[-\]etcd-readiness failed: reason withheld$/m);
      assert.equal((await client.call("GET", "/livez")).status, 200);
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/large-0`)).status, 200);
      assert.equal(server.process.output().match(/the store rejects writes/g)?.length, 1, server.process.output());

      assert.equal((await client.call("DELETE", CONFIG_MAPS)).status, 200);
      const { header } = await etcdCall(etcd, "kv/range", { key: "AA==" });
      await etcdCall(etcd, "kv/compaction", { revision: header.revision, physical: true });
      await etcdCall(etcd, "maintenance/defragment", {});
      await etcdCall(etcd, "maintenance/alarm", { action: "DEACTIVATE", memberID: header.member_id, alarm: "NOSPACE" });
      const isReady = async () => (await client.call("GET", "/readyz")).status === 200;
      await eventually(isReady, { everyMs: 200, what: "the server is ready by itself" });
      assert.equal((await create(client, "large-again")).status, 201);
    } finally {
      await server.kill();
      await etcd.stop();
    }
  });
});
