import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { TestCluster } from "../shared/controllers.suite.ts";
import { kubernetesService } from "./kubernetes-service.ts";
import { createServiceRange } from "./service-range.ts";

const KEY = { namespace: "default", name: "kubernetes" };

test("registers the server's endpoint, and removes it at shutdown", async () => {
  const cluster = new TestCluster();
  const { access } = cluster.resources;
  await createServiceRange(cluster, ["10.0.0.0/24"]);
  await createServiceRange(cluster, ["10.0.0.0/24"]);
  const common = { clusterAddress: "10.0.0.1", port: 6443, isShared: true };
  const start = (ownAddress: string) => {
    const stop = new AbortController();
    const controller = kubernetesService(cluster, { ...common, ownAddress });
    return { stop: () => stop.abort(), ended: controller.run(stop.signal) };
  };
  const addresses = async () => {
    const endpoints = await access.find("", "endpoints", KEY);
    const subsets = (endpoints?.subsets ?? []) as { addresses: { ip: string }[] }[];
    return subsets.flatMap((subset) => subset.addresses.map(({ ip }) => ip)).join();
  };
  const first = start("192.0.2.1");
  await eventually(async () => (await addresses()) === "192.0.2.1");
  const second = start("192.0.2.2");
  await eventually(async () => (await addresses()) === "192.0.2.1,192.0.2.2");
  const service = await access.find("", "services", KEY);
  assert.partialDeepStrictEqual(service?.spec, { clusterIP: "10.0.0.1" });
  await eventually(async () => {
    const slice = await access.find("discovery.k8s.io", "endpointslices", KEY);
    return Array.isArray(slice?.endpoints) && slice.endpoints.length === 2;
  });

  first.stop();
  await first.ended;
  assert.equal(await addresses(), "192.0.2.2");
  second.stop();
  await second.ended;
  assert.equal(await addresses(), "");
  assert.deepEqual(cluster.problems, []);
  await cluster.stop();
});
