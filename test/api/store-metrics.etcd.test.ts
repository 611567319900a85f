import assert from "node:assert/strict";
import { test } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";

const QUOTAS = "/api/v1/namespaces/default/resourcequotas";

test("metrics tell what etcd was asked, how it failed, and how reads waited for the cache", {
  ...needs("etcd"),
}, async (t) => {
  const etcd = await startEtcd();
  t.after(() => etcd.stop());
  const binnacle = await startBinnacle({ etcdEndpoint: etcd.endpoints.join(",") });
  t.after(() => binnacle.kill());
  const { call } = clientFor(binnacle.base, tokens.admin);
  for (const name of ["a", "b"]) assert.equal((await call("POST", QUOTAS, { metadata: { name } })).status, 201);
  for (let i = 0; i < 3; i++) assert.equal((await call("GET", `${QUOTAS}/a`)).status, 200);
  await call("GET", `${QUOTAS}/a?resourceVersion=0`);
  await call("DELETE", `${QUOTAS}/b`);
  await call("GET", QUOTAS);
  const shown = async () => String((await call("GET", "/metrics")).body).split("\n");
  const lines = await shown();
  const readValue = (from: readonly string[], start: string) =>
    Number(
      from
        .find((line) => line.startsWith(start))
        ?.split(" ")
        .at(-1),
    );
  const kind = 'group="",operation="';
  const asked = (operation: string) =>
    readValue(lines, `etcd_requests_total{${kind}${operation}",resource="resourcequotas"}`);
  assert.deepEqual([asked("create"), asked("delete")], [2, 1]);
  assert.ok(readValue(lines, `etcd_request_duration_seconds_sum{${kind}create",resource="resourcequotas"}`) > 0);
  assert.ok(readValue(lines, `etcd_requests_total{${kind}getCurrentResourceVersion",resource=""}`) >= 4);
  // The delete read the object first; a read of any version does not wait.
  const consistent =
    'apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="resourcequotas",success';
  assert.equal(readValue(lines, consistent), 5);
  assert.equal(
    readValue(lines, 'apiserver_watch_cache_read_wait_seconds_count{group="",resource="resourcequotas"}'),
    5,
  );
  assert.equal(readValue(lines, 'apiserver_watch_cache_events_received_total{group="",resource="resourcequotas"}'), 3);
  assert.equal(readValue(lines, "apiserver_watch_cache_initialization_duration_seconds_count"), 1);
  assert.equal(readValue(lines, 'apiserver_resource_objects{group="",resource="resourcequotas"}'), 1);
  await etcd.kill(0);
  assert.equal((await call("POST", QUOTAS, { metadata: { name: "c" } })).status, 500);
  assert.ok(readValue(await shown(), "etcd_request_errors_total") >= 1);
});
