import assert from "node:assert/strict";
import { test } from "node:test";
import { Teller } from "../cost/teller.ts";
import { startBinnacle } from "../support/binnacle.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
/** One in fifty once got no answer. */
const TIMES = 300;

test("requests that follow large answers on their connection are answered", { timeout: 120_000 }, async (t) => {
  const server = await startBinnacle();
  const teller = new Teller(server.base, 20_000);
  t.after(() => server.kill());
  t.after(() => teller.close());
  const body = Buffer.from(JSON.stringify({ metadata: { name: "a.".repeat(50_000) } }));
  for (let turn = 0; turn < TIMES; turn += 1) {
    const answer = await teller.tell({ method: "POST", path: MAPS, body });
    assert.equal(answer.status, 422, `request ${turn}: ${answer.body.message}`);
    assert.ok(JSON.stringify(answer.body).length > 300_000, "the answer is large");
  }
});
