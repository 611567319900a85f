import assert from "node:assert/strict";
import { test } from "node:test";
import { RawClient } from "../cost/raw-client.ts";
import { startBinnacle } from "../support/binnacle.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
/** One in fifty once got no response. */
const TIMES = 300;

test("requests that follow large answers on their connection are answered", async (t) => {
  const server = await startBinnacle();
  const client = new RawClient(server.base, 300_000);
  t.after(() => server.kill());
  t.after(() => client.close());
  const body = Buffer.from(JSON.stringify({ metadata: { name: "a.".repeat(50_000) } }));
  for (let turn = 0; turn < TIMES; turn += 1) {
    const answer = await client.send({ method: "POST", path: MAPS, body });
    assert.equal(answer.status, 422, `request ${turn}: ${answer.body.message}`);
    assert.ok(JSON.stringify(answer.body).length > 300_000, "the answer is large");
  }
});
