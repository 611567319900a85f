import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("a disk that takes no more", { timeout: 60_000 }, () => {
  const create = (client: Client, name: string) =>
    client.call("POST", CONFIG_MAPS, { metadata: { name }, data: { large: "x".repeat(900_000) } });

  it("is told by the answer, one line of the log and readiness, and is over when the disk takes more", async () => {
    const server = await startBinnacle({ store: "sqlite" });
    const limitFiles = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(server.process.pid), `--fsize=${bytes}:`]);
    try {
      const client = clientFor(server.base, tokens.admin);
      assert.equal((await create(client, "fits")).status, 201);
      limitFiles("100000");
      for (const name of ["a", "b", "c"]) {
        const { status, body, headers } = await create(client, name);
        assert.deepEqual([status, body.reason, headers["retry-after"]], [500, "ServerTimeout", "2"]);
      }
      const unready = await client.call("GET", "/readyz");
      assert.equal(unready.status, 500);
      assert.match(unready.body, /^\[-\]etcd-readiness failed: reason withheld$/m);
      assert.equal((await client.call("GET", `${CONFIG_MAPS}/fits`)).status, 200);
      assert.equal(server.process.output().match(/the store takes no writes/g)?.length, 1, server.process.output());

      limitFiles("unlimited");
      const isReady = async () => (await client.call("GET", "/readyz")).status === 200;
      await eventually(isReady, { withinMs: 20_000, everyMs: 200, what: "the server is ready by itself" });
      assert.equal((await create(client, "a")).status, 201);
      assert.equal((await client.call("GET", CONFIG_MAPS)).body.items.length, 2);
    } finally {
      await server.kill();
    }
  });
});
