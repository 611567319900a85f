import assert from "node:assert/strict";
import { test } from "node:test";
import { apiServerId } from "../../../base/api/api-server-id.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { TestCluster, until } from "../shared/controllers.suite.ts";
import { identityLease, identityLeaseCollection } from "./identity-lease.ts";

const LABELS = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
const lease = (cluster: TestCluster, name: string) => cluster.find("leases", name, "kube-system");
const holderOf = (object: KubeObject | undefined) => isObject(object?.spec) && object.spec.holderIdentity;

test("names the lease like kube-apiserver on the same host", () => {
  assert.equal(apiServerId("vm"), "apiserver-wlv32tlttr4jl3gtroqexyxapa");
});

test("keeps a lease while the server runs", async () => {
  const cluster = new TestCluster();
  const name = apiServerId("host-a");
  const stale = { content: { spec: { holderIdentity: "stale" } }, namespace: "kube-system" };
  await cluster.create("leases", name, stale);
  const stop = new AbortController();
  const running = identityLease(cluster, "host-a").run(stop.signal);
  await until(async () => String(holderOf(await lease(cluster, name))).startsWith(`${name}_`));
  const found = await lease(cluster, name);
  assert.deepEqual(found?.metadata.labels, { ...LABELS, "kubernetes.io/hostname": "host-a" });
  assert.ok(isObject(found?.spec));
  assert.equal(found.spec.leaseDurationSeconds, 3600);
  assert.match(String(found.spec.renewTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  stop.abort();
  await running;
  assert.equal(await lease(cluster, name), undefined);
  assert.deepEqual(cluster.problems, []);
  await cluster.stop();
});

test("deletes expired leases of other servers only", async () => {
  const cluster = new TestCluster();
  const create = async (name: string, spec: KubeObject["spec"], labels: Record<string, string>) => {
    const content = { spec, metadata: { name, namespace: "kube-system", labels } };
    await cluster.create("leases", name, { content });
  };
  const at = (ms: number) => new Date(Date.now() + ms).toISOString().replace("Z", "000Z");
  await create("expired", { renewTime: at(-20_000), leaseDurationSeconds: 10 }, LABELS);
  await create("silent", {}, LABELS);
  await create("fresh", { renewTime: at(0), leaseDurationSeconds: 10 }, LABELS);
  await create("other", { renewTime: at(-20_000), leaseDurationSeconds: 10 }, {});
  cluster.start(identityLeaseCollection(cluster));
  await until(async () => (await cluster.count("leases")) === 2);
  assert.ok(await lease(cluster, "fresh"));
  assert.ok(await lease(cluster, "other"));
  await cluster.stop();
});
