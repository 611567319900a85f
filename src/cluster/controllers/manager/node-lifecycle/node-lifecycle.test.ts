import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { conditionOf } from "../../shared/pods.ts";
import { NodeCluster } from "../nodes.suite.ts";
import { nodeLifecycle } from "./node-lifecycle.ts";

const zone = (name: string) => ({ "topology.kubernetes.io/zone": name });

suite("node-lifecycle-controller", () => {
  let cluster: NodeCluster;

  beforeEach(() => {
    cluster = new NodeCluster();
    cluster.start(nodeLifecycle(cluster));
  });
  afterEach(() => cluster.end());

  const hasTaints = (name: string, ...taints: readonly string[]) =>
    cluster.pass(async () => JSON.stringify(await cluster.taints(name)) === JSON.stringify(taints));

  test("reports a node as unknown 50 s after its last heartbeat", async () => {
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.live(30, "a", "b");
    await cluster.live(50, "b");
    assert.equal((await cluster.condition("a"))?.status, "True");
    await cluster.live(1, "b");
    const { lastHeartbeatTime, ...ready } = (await cluster.condition("a")) ?? {};
    assert.deepEqual(ready, {
      type: "Ready",
      status: "Unknown",
      lastTransitionTime: "2026-01-01T00:01:20Z",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    assert.equal(lastHeartbeatTime, "2026-01-01T00:00:00Z");
    const missing = await cluster.condition("a", "DiskPressure");
    assert.equal(missing?.reason, "NodeStatusNeverUpdated");
    assert.equal(missing?.lastHeartbeatTime, "2026-01-01T00:00:00Z");
    assert.equal(await cluster.condition("a", "NetworkUnavailable"), undefined);
    assert.equal((await cluster.condition("b"))?.status, "True");
    await hasTaints("a", "unreachable:NoSchedule", "unreachable:NoExecute");
    assert.deepEqual(await cluster.news("a"), [
      "Normal RegisteredNode: Node a event: Registered Node a in Controller",
      "Normal NodeNotReady: Node a status is now: NodeNotReady",
    ]);
  });

  test("gives a node without a status 60 s", async () => {
    await cluster.client.create(cluster.resource("nodes"), { kind: "Node", apiVersion: "v1", metadata: { name: "a" } });
    await cluster.wait(60);
    assert.equal(await cluster.condition("a"), undefined);
    await cluster.wait(1);
    assert.equal((await cluster.condition("a"))?.reason, "NodeStatusNeverUpdated");
    assert.deepEqual(await cluster.taints("a"), ["unreachable:NoSchedule"]);
  });

  test("marks the Pods of a silent node as not ready, also those that are bound later", async () => {
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.addPod("one", "a");
    await cluster.addPod("other", "b");
    await cluster.live(52, "b");
    await cluster.addPod("late", "");
    await cluster.rewrite("pods", "late", (pod) => Object.assign(pod.spec ?? {}, { nodeName: "a" }));
    const ready = async (name: string) => {
      const pod = await cluster.pod(name);
      return pod && conditionOf(pod, "Ready")?.status;
    };
    await cluster.pass(async () => (await ready("one")) === "False" && (await ready("late")) === "False");
    assert.equal(await ready("other"), "True");
    assert.deepEqual(await cluster.news("one"), ["Warning NodeNotReady: Node is not ready"]);
  });

  test("taints nodes by their conditions and by spec.unschedulable", async () => {
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.setCondition("a", "MemoryPressure", "True");
    await hasTaints("a", "memory-pressure:NoSchedule");
    await cluster.client.patch(
      cluster.resource("nodes"),
      { namespace: "", name: "a" },
      { spec: { unschedulable: true } },
    );
    await hasTaints("a", "memory-pressure:NoSchedule", "unschedulable:NoSchedule");
    await cluster.setCondition("a", "MemoryPressure", "False");
    await hasTaints("a", "unschedulable:NoSchedule");
    await cluster.setCondition("a", "Ready", "False");
    await hasTaints("a", "unschedulable:NoSchedule", "not-ready:NoSchedule", "not-ready:NoExecute");
    await cluster.live(40, "a", "b");
    await cluster.live(60, "b");
    await hasTaints("a", "unschedulable:NoSchedule", "unreachable:NoSchedule", "unreachable:NoExecute");
    await cluster.setCondition("a", "Ready", "True");
    await hasTaints("a", "unschedulable:NoSchedule");
  });

  test("keeps taints of others, and removes its own from a node that is ready", async () => {
    const own = { key: "node.kubernetes.io/unreachable", effect: "NoExecute" };
    await cluster.addNode("a", {}, { taints: [{ key: "team", effect: "NoExecute" }, own] });
    await hasTaints("a", "team:NoExecute");
  });

  test("copies the OS and architecture labels to their deprecated names", async () => {
    await cluster.addNode("a", { "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "windows" });
    await cluster.pass(async () => (await cluster.node("a"))?.metadata.labels?.["beta.kubernetes.io/os"] === "linux");
    assert.equal((await cluster.node("a"))?.metadata.labels?.["beta.kubernetes.io/arch"], undefined);
  });

  test("records an Event about a node that is deleted", async () => {
    await cluster.addNode("a");
    await cluster.wait(1);
    await cluster.delete("nodes", "a", {}, "");
    await cluster.hasNews("Normal RemovingNode: Node a event: Removing Node a from Controller", "a");
  });

  /** The nodes with a NoExecute taint. */
  const evicted = async (names: readonly string[]) => {
    const found: string[] = [];
    for (const name of names) if ((await cluster.taints(name)).includes("unreachable:NoExecute")) found.push(name);
    return found;
  };

  test("evicts from one node per 10 s in a zone that is disrupted, while others are not", async () => {
    const lost = ["a1", "a2"];
    for (const name of lost) await cluster.addNode(name, zone("a"));
    await cluster.addNode("b", zone("b"));
    await cluster.live(51, "b");
    assert.deepEqual(await evicted(lost), ["a1"]);
    await cluster.live(9, "b");
    assert.deepEqual(await evicted(lost), ["a1"]);
    await cluster.live(2, "b");
    assert.deepEqual(await evicted(lost), lost);
  });

  test("stops evictions in a small zone that is partially disrupted", async () => {
    const names = ["a", "b", "c", "d"];
    for (const name of names) await cluster.addNode(name);
    await cluster.live(100, "d");
    assert.deepEqual(await evicted(names), []);
    assert.deepEqual(await cluster.taints("a"), ["unreachable:NoSchedule"]);
    await cluster.setCondition("a", "Ready", "True");
    await cluster.live(40, "a", "d");
    assert.deepEqual(await evicted(names), ["b", "c"]);
  });

  test("evicts more slowly in a large zone that is partially disrupted", async () => {
    const names = Array.from({ length: 51 }, (_, index) => `n${index}`);
    for (const name of names) await cluster.addNode(name);
    const [first = "", second = "", ...rest] = names;
    assert.equal(rest.length, 49);
    await cluster.live(60, first, second);
    assert.equal((await evicted(names)).length, 1);
    await cluster.live(80, first, second);
    assert.equal((await evicted(names)).length, 1);
    await cluster.live(30, first, second);
    assert.equal((await evicted(names)).length, 2);
  });

  test("removes its NoExecute taints while all zones are fully disrupted, and gives all nodes time afterwards", async () => {
    for (const name of ["a", "b"]) await cluster.addNode(name, zone(name));
    await cluster.live(55, "b");
    assert.deepEqual(await cluster.taints("a"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
    await cluster.wait(60);
    for (const name of ["a", "b"]) assert.deepEqual(await cluster.taints(name), ["unreachable:NoSchedule"]);
    await cluster.setCondition("b", "Ready", "True");
    await cluster.live(9, "b");
    assert.deepEqual(await cluster.taints("a"), ["unreachable:NoSchedule"]);
    await cluster.live(5, "b");
    assert.deepEqual(await cluster.taints("a"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
    assert.deepEqual(await cluster.taints("b"), []);
  });

  test("a heartbeat writes nothing, and an idle cluster has one timer", async () => {
    for (let index = 0; index < 20; index += 1) await cluster.addNode(`n${index}`);
    await cluster.wait(1);
    const before = (await cluster.store.list("/registry/")).revision;
    await cluster.renew("n0", "n1");
    await cluster.wait(30);
    assert.equal((await cluster.store.list("/registry/")).revision, before + 2);
    assert.equal(cluster.clock.timerCount, 1);
  });
});
