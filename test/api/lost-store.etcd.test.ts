import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("etcd that is gone", { timeout: 90_000, ...needs("etcd") }, () => {
  it("is told within seconds by every answer, and is over when it is back", async () => {
    const etcd = await startEtcd();
    const server = await startBinnacle({ etcdEndpoint: etcd.endpoints.join(",") });
    try {
      const client = clientFor(server.base, tokens.admin);
      const timed = async (...request: Parameters<typeof client.call>) => {
        const startMs = performance.now();
        const answer = await client.call(...request);
        return { ...answer, ms: performance.now() - startMs };
      };
      const create = (name: string) => timed("POST", CONFIG_MAPS, { metadata: { name } });
      assert.equal((await create("before")).status, 201);
      await etcd.kill(0);
      // Side by side, and more than one wave: no request waits for those that failed before it.
      for (const patienceMs of [5500, 2500]) {
        const [ready, live, ...requests] = await Promise.all([
          timed("GET", "/readyz"),
          timed("GET", "/livez"),
          timed("GET", `${CONFIG_MAPS}/before`),
          timed("GET", CONFIG_MAPS),
          create("meanwhile"),
          timed("DELETE", `${CONFIG_MAPS}/before`),
        ]);
        for (const { status, body, ms } of [ready, live]) {
          assert.equal(status, 500);
          assert.match(body, /^\[-\]etcd failed: reason withheld$/m);
          assert.ok(ms < 2500, `a check took ${ms} ms`);
        }
        for (const { status, body, headers, ms } of requests) {
          assert.deepEqual([status, body.reason, headers["retry-after"]], [500, "ServerTimeout", "2"]);
          assert.ok(ms < patienceMs, `${body.message} took ${ms} ms`);
        }
      }
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/before?resourceVersion=0`)).status, 200);

      await etcd.restart(0);
      const isReady = async () => (await client.call("GET", "/readyz")).status === 200;
      await eventually(isReady, { withinMs: 30_000, everyMs: 200, what: "the server is ready by itself" });
      assert.equal((await create("after")).status, 201);
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/before`)).status, 200);
    } finally {
      await server.kill();
      await etcd.stop();
    }
  });
});
