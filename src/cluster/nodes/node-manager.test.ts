import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { SimulatedCluster } from "./nodes.suite.ts";

suite("simulated nodes", () => {
  let cluster: SimulatedCluster;

  beforeEach(() => {
    cluster = new SimulatedCluster();
  });
  afterEach(() => cluster.end());

  const lease = async (name: string) => (await cluster.find("leases", name, "kube-node-lease")) as KubeObject;

  test("register like a kubelet", async () => {
    await cluster.simulate({ count: 2 });
    const node = await cluster.node("node-2");
    assert.deepEqual(node?.metadata.labels, {
      "beta.kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": "node-2",
      "kubernetes.io/os": "linux",
    });
    assert.deepEqual(node.status?.addresses, [
      { type: "InternalIP", address: "172.16.0.3" },
      { type: "Hostname", address: "node-2" },
    ]);
    assert.deepEqual(node.status?.allocatable, { cpu: "4", memory: "8Gi", pods: "110" });
    assert.deepEqual(
      node.status?.conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ["MemoryPressure", "False", "KubeletHasSufficientMemory"],
        ["DiskPressure", "False", "KubeletHasNoDiskPressure"],
        ["PIDPressure", "False", "KubeletHasSufficientPID"],
        ["Ready", "True", "KubeletReady"],
      ],
    );
    assert.deepEqual(await cluster.list("events").then((all) => all.map(({ message }) => message)), [
      "Node node-1 status is now: NodeReady",
      "Node node-2 status is now: NodeReady",
    ]);
  });

  test("renew their Leases every 10 s and post their conditions every 5 min", async () => {
    await cluster.simulate();
    const { metadata, spec } = await lease("node-1");
    assert.equal(metadata.ownerReferences?.[0]?.name, "node-1");
    assert.deepEqual(spec, {
      holderIdentity: "node-1",
      leaseDurationSeconds: 40,
      renewTime: "2026-01-01T00:00:00.000000Z",
    });
    await cluster.wait(10);
    assert.deepEqual((await lease("node-1")).spec, {
      ...(spec as object),
      renewTime: "2026-01-01T00:00:10.000000Z",
    });
    const before = (await cluster.node("node-1"))?.metadata.resourceVersion;
    await cluster.wait(280);
    assert.equal((await cluster.node("node-1"))?.metadata.resourceVersion, before);
    await cluster.wait(10);
    assert.equal((await cluster.condition("node-1"))?.lastHeartbeatTime, "2026-01-01T00:05:00Z");
    assert.equal((await cluster.condition("node-1"))?.lastTransitionTime, "2026-01-01T00:00:00Z");
  });

  test("an object with the annotation is a node, and one that is deleted is none", async () => {
    await cluster.simulate();
    const annotations = { "simulated.binnacle.dev/node": "true" };
    const capacity = { cpu: "1", memory: "1Gi", pods: "5" };
    await cluster.client.create(cluster.resource("nodes"), {
      kind: "Node",
      apiVersion: "v1",
      metadata: { name: "own", annotations, labels: { zone: "a" } },
      status: { capacity },
    });
    await cluster.clock.advance(0);
    const own = await cluster.node("own");
    assert.equal((await cluster.condition("own"))?.status, "True");
    assert.deepEqual(own?.status?.allocatable, capacity);
    assert.equal(own?.metadata.labels?.zone, "a");
    assert.equal(own?.metadata.labels?.["kubernetes.io/hostname"], "own");
    await cluster.delete("nodes", "own", {}, "");
    const { renewTime } = (await lease("own")).spec as { renewTime: string };
    await cluster.wait(20);
    assert.equal(await cluster.node("own"), undefined);
    assert.equal(((await lease("own")).spec as { renewTime: string }).renewTime, renewTime);
  });

  test("record an Event when they are cordoned or uncordoned", async () => {
    await cluster.simulate();
    const nodes = cluster.resource("nodes");
    for (const unschedulable of [true, false]) {
      await cluster.client.patch(nodes, { namespace: "", name: "node-1" }, { spec: { unschedulable } });
      await cluster.clock.advance(0);
    }
    assert.deepEqual(await cluster.list("events").then((all) => all.map(({ message }) => message)), [
      "Node node-1 status is now: NodeReady",
      "Node node-1 status is now: NodeNotSchedulable",
      "Node node-1 status is now: NodeSchedulable",
    ]);
  });

  test("a node that was reported as unknown posts its status again", async () => {
    await cluster.simulate();
    await cluster.setCondition("node-1", "Ready", "Unknown");
    await cluster.clock.advance(0);
    assert.equal((await cluster.condition("node-1"))?.status, "True");
  });

  test("120 idle nodes have one timer, and a heartbeat costs one write", async () => {
    await cluster.simulate({ count: 120 });
    await cluster.wait(20);
    assert.equal(cluster.clock.timerCount, 1);
    const revision = async () => (await cluster.store.list("/registry/")).revision;
    const before = await revision();
    await cluster.wait(10);
    assert.equal((await revision()) - before, 120);
  });
});
