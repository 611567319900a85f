import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../../base/api/object.ts";
import { builtInPriorities } from "../../../kinds/built-in/all.ts";
import { TestCluster } from "../shared/controllers.suite.ts";
import { registerApiServices } from "./api-services.ts";

const LABEL = "kube-aggregator.kubernetes.io/automanaged";
const register = (cluster: TestCluster) => registerApiServices(cluster, builtInPriorities());

test("creates an APIService for every group version except the aggregator's own", async () => {
  const cluster = new TestCluster();
  await register(cluster);
  const wanted = new Set(
    cluster.catalog.definitions.flatMap(({ group, versions }) => versions.map(({ name }) => `${name}.${group}`)),
  );
  wanted.delete("v1.apiregistration.k8s.io");
  assert.equal(await cluster.count("apiservices"), wanted.size);
  const core = await cluster.find("apiservices", "v1.");
  assert.deepEqual(core?.spec, { version: "v1", groupPriorityMinimum: 18_000, versionPriority: 1 });
  const apps = await cluster.find("apiservices", "v1.apps");
  assert.deepEqual(apps?.metadata.labels, { [LABEL]: "onstart" });
  assert.ok(isObject(apps?.status) && Array.isArray(apps.status.conditions));
  assert.partialDeepStrictEqual(apps.status.conditions, [{ type: "Available", status: "True", reason: "Local" }]);
  await cluster.stop();
});

test("repairs and removes managed APIServices at a restart, and leaves others alone", async () => {
  const cluster = new TestCluster();
  await register(cluster);
  const create = (name: string, group: string, labels: Record<string, string>) => {
    const spec = { group, version: "v9", groupPriorityMinimum: 1, versionPriority: 1 };
    return cluster.create("apiservices", name, { content: { metadata: { name, labels }, spec } });
  };
  await create("v9.gone.io", "gone.io", { [LABEL]: "onstart" });
  await create("v9.mine.io", "mine.io", {});
  const rank = (name: string, versionPriority: number, managed: boolean) =>
    cluster.change("apiservices", name, (service) => {
      if (!managed) service.metadata.labels = {};
      service.spec = { ...(isObject(service.spec) ? service.spec : {}), versionPriority };
    });
  await rank("v1.apps", 7, true);
  await rank("v1.batch", 7, false);
  const before = await cluster.store.revision();
  await register(cluster);
  assert.equal(await cluster.store.revision(), before + 2, "one update and one delete");
  const rankOf = async (name: string) => {
    const spec = (await cluster.find("apiservices", name))?.spec;
    return isObject(spec) ? spec.versionPriority : undefined;
  };
  assert.equal(await rankOf("v1.apps"), 15);
  assert.equal(await rankOf("v1.batch"), 7);
  assert.equal(await rankOf("v9.gone.io"), undefined);
  assert.equal(await rankOf("v9.mine.io"), 1);
  await cluster.stop();
});
