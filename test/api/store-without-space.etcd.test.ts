import assert from "node:assert/strict";
import { test } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const OUT_OF_SPACE = /"the store rejects writes; /g;

test("etcd without space is logged with its cause and makes the server unready, and reads go on", {
  ...needs("etcd"),
}, async (t) => {
  const etcd = await startEtcd({ arguments: [`--quota-backend-bytes=${16 * 1024 * 1024}`] });
  t.after(() => etcd.stop());
  const binnacle = await startBinnacle({ etcdEndpoint: etcd.endpoints.join(",") });
  t.after(() => binnacle.kill());
  const { call } = clientFor(binnacle.base, tokens.admin);
  let refused = 0;
  let stored = 0;
  for (let i = 0; i < 60 && refused < 3; i++) {
    const { status } = await call("POST", CONFIG_MAPS, {
      metadata: { name: `c${i}` },
      data: { a: "x".repeat(900_000) },
    });
    if (status === 201) stored += 1;
    else refused += 1;
  }
  assert.equal(refused, 3, `${stored} were stored`);
  const ready = await call("GET", "/readyz?verbose");
  assert.equal(ready.status, 500);
  assert.match(ready.body, /\[-\]etcd-readiness failed/);
  assert.equal((await call("GET", "/livez")).status, 200);
  assert.equal((await call("GET", `${CONFIG_MAPS}/c0`)).status, 200);
  await eventually(async () => OUT_OF_SPACE.test(binnacle.process.output()));
  const output = binnacle.process.output();
  assert.equal(output.match(OUT_OF_SPACE)?.length, 1, output);
  assert.match(output, /database space exceeded/);
  assert.doesNotMatch(output, /x{20}/);
});
