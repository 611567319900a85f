import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { RUNNABLE_CONTROLLERS } from "../manager/all.ts";
import type { Controller } from "./controller.ts";
import { TestCluster } from "./controllers.suite.ts";
import { loop, source } from "./loop.ts";

const FORBIDDEN = /User "system:serviceaccount:kube-system:cronjob-controller" cannot create resource "configmaps"/;

/** Syncs ConfigMaps by creating another one. */
function copier(cluster: TestCluster, name: string, delayMs: number): Controller {
  const { informer } = cluster.informers.of("", "configmaps");
  const { clock } = cluster.resources;
  return loop({
    ...{ name, workers: 1, clock, report: cluster.report },
    sources: [source(informer, (queue) => (_, after) => after && queue.addAfter("default/first", delayMs))],
    async sync() {
      const metadata = { name: "copy", namespace: "default" };
      await cluster.client.create(informer.resource, { kind: "ConfigMap", apiVersion: "v1", metadata });
    },
  });
}

/** Resolves when the controller has tried to create the copy. */
async function runCopier(name: string): Promise<TestCluster> {
  const clock = new ManualClock();
  const cluster = new TestCluster(undefined, { clock });
  // Another controller starts the informer.
  cluster.start(copier(cluster, "other", 3_600_000), copier(cluster, name, 10));
  await cluster.create("configmaps", "first");
  await clock.advance(20);
  return cluster;
}

suite("permissions of controllers in tests", () => {
  test("a request that the bootstrap role of its controller does not allow fails the test", async () => {
    const cluster = await runCopier("cronjob-controller");
    assert.equal(await cluster.find("configmaps", "copy"), undefined);
    await assert.rejects(cluster.stop(), FORBIDDEN);
  });

  test("the bootstrap role of another controller allows the request", async () => {
    const cluster = await runCopier("root-ca-certificate-publisher-controller");
    assert.ok(await cluster.find("configmaps", "copy"));
    await cluster.stop();
  });

  test("every controller runs under the name that selects it", async () => {
    const cluster = new TestCluster();
    for (const { name, make } of RUNNABLE_CONTROLLERS)
      assert.equal(make(cluster, { rootCa: "CA", signToken: () => "" }).name, name);
    await cluster.stop();
  });
});
