import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { conditionOf } from "../../shared/pods.ts";
import { NodeCluster } from "../nodes.suite.ts";
import { podGarbageCollector } from "./pod-garbage-collector.ts";

const HOLD = "example.com/hold";
const OUT_OF_SERVICE = { key: "node.kubernetes.io/out-of-service", value: "x", effect: "NoExecute" };

suite("pod-garbage-collector-controller", () => {
  let cluster: NodeCluster;

  beforeEach(async () => {
    cluster = new NodeCluster();
    cluster.start(podGarbageCollector(cluster, 3));
    await cluster.addNode("a");
  });
  afterEach(() => cluster.end());

  const names = async () => (await cluster.pods()).map(({ metadata }) => metadata.name);
  const hold = (name: string) =>
    cluster.rewrite("pods", name, ({ metadata }) => {
      metadata.finalizers = [HOLD];
    });

  test("deletes the Pods of a node that has been gone for 40 s, and lets them fail before", async () => {
    for (const name of ["web", "held"]) await cluster.addPod(name, "a");
    await hold("held");
    await cluster.delete("nodes", "a", {}, "");
    await cluster.wait(39);
    assert.deepEqual(await names(), ["held", "web"]);
    await cluster.wait(2);
    assert.deepEqual(await names(), ["held"]);
    const pod = await cluster.pod("held");
    assert.partialDeepStrictEqual(pod?.status, { phase: "Failed", observedGeneration: 1 });
    assert.deepEqual(pod && conditionOf(pod, "DisruptionTarget"), {
      type: "DisruptionTarget",
      observedGeneration: 1,
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: "2026-01-01T00:00:40Z",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
    });
  });

  test("keeps the Pods of a node that returns in time", async () => {
    await cluster.addPod("web", "b");
    await cluster.wait(30);
    await cluster.addNode("b");
    await cluster.wait(60);
    assert.deepEqual(await names(), ["web"]);
  });

  test("deletes a Pod that is being deleted on a node out of service", async () => {
    for (const name of ["web", "kept"]) await cluster.addPod(name, "a");
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.taint("a", OUT_OF_SERVICE);
    await cluster.wait(1);
    assert.deepEqual(await names(), ["kept", "web"]);
    await cluster.setCondition("a", "Ready", "Unknown");
    await cluster.pass(async () => (await names()).length === 1);
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "kept" });
    await cluster.pass(async () => (await names()).length === 0);
  });

  test("lets a Pod fail that is being deleted and has no node", async () => {
    await cluster.post("pods", "web", { containers: [{ name: "main", image: "nginx" }] });
    await hold("web");
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.pass(async () => (await cluster.pod("web"))?.status?.phase === "Failed");
    const before = await cluster.pod("web");
    await cluster.wait(60);
    assert.deepEqual(await cluster.pod("web"), before);
  });

  test("keeps a number of finished Pods: deletes evicted ones first, then the oldest", async () => {
    for (const name of ["d", "c", "b", "a", "e"]) {
      await cluster.addPod(name, "a");
      await cluster.setPod(name, "Failed");
      await cluster.wait(1);
    }
    await cluster.addPod("running", "a");
    await cluster.rewrite("pods", "b", (pod) => void Object.assign(pod.status ?? {}, { reason: "Evicted" }));
    await cluster.pass(async () => (await names()).length === 4);
    assert.deepEqual(await names(), ["a", "c", "e", "running"]);
  });
});
