import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

/** A request that waits for an etcd that is gone takes at least this long. */
const WAIT_MS = 3000;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("etcd that is gone", { ...needs("etcd") }, () => {
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
      // Side by side, and more than one wave: after the first one no request waits for etcd. Each has several tries,
      // because a busy machine may be slow now and then.
      const fastest: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        const [ready, live, ...requests] = await Promise.all([
          timed("GET", "/readyz"),
          timed("GET", "/livez"),
          timed("GET", `${CONFIG_MAPS}/before`),
          timed("GET", CONFIG_MAPS),
          create("meanwhile"),
          timed("DELETE", `${CONFIG_MAPS}/before`),
        ]);
        for (const { status, body } of [ready, live]) {
          assert.equal(status, 500);
          assert.match(body, /^\[-\]etcd failed: reason withheld$/m);
        }
        for (const [index, { status, body, headers, ms }] of requests.entries()) {
          assert.deepEqual([status, body.reason, headers["retry-after"]], [500, "ServerTimeout", "2"]);
          if (turn > 0) fastest[index] = Math.min(fastest[index] ?? ms, ms);
        }
      }
      assert.ok(Math.max(...fastest) < WAIT_MS, fastest.join());
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/before?resourceVersion=0`)).status, 200);

      await etcd.restart(0);
      const isReady = async () => (await client.call("GET", "/readyz")).status === 200;
      await eventually(isReady, { everyMs: 200, what: "the server is ready by itself" });
      assert.equal((await create("after")).status, 201);
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/before`)).status, 200);
    } finally {
      await server.kill();
      await etcd.stop();
    }
  });
});
