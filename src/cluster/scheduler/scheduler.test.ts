import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { conditionOf } from "../controllers/shared/pods.ts";
import { DEFAULT_PLUGINS } from "./default-plugins.ts";
import { ScheduledCluster } from "./scheduler.suite.ts";
import { INHERENT_PLUGINS, UPSTREAM_PLUGINS } from "./upstream-plugins.ts";

const cpu = (amount: string) => ({
  containers: [{ name: "main", image: "nginx", resources: { requests: { cpu: amount } } }],
});

test("every upstream plugin is built in, or its absence has a reason", () => {
  const own = DEFAULT_PLUGINS.map(({ name }) => name);
  const upstream = UPSTREAM_PLUGINS.map(({ name }) => name);
  const inOrder = upstream.filter((name) => own.includes(name));
  assert.deepEqual(own, inOrder);
  const excused = UPSTREAM_PLUGINS.filter(({ absence }) => absence !== undefined).map(({ name }) => name);
  assert.deepEqual(
    excused.filter((name) => own.includes(name) || INHERENT_PLUGINS.has(name)),
    [],
  );
});

suite("scheduler", () => {
  test("binds a Pod and records an Event", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addPod("web");
    await cluster.wait();
    assert.equal(await cluster.outcome("web"), "a");
    assert.equal(conditionOf(await cluster.pod("web"), "PodScheduled")?.status, "True");
    const [event, ...others] = await cluster.events("web");
    assert.deepEqual(others, []);
    assert.equal(event?.message, "Successfully assigned default/web to a");
    assert.deepEqual(
      [event?.reason, event?.action, event?.reportingComponent],
      ["Scheduled", "Binding", "default-scheduler"],
    );
    await cluster.end();
  });

  test("reports why no node is possible, and schedules the Pod when one becomes possible", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addNode("b", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    await cluster.addPod("big", cpu("5"));
    await cluster.wait();
    const condition = conditionOf(await cluster.pod("big"), "PodScheduled");
    assert.match(
      condition?.message ?? "",
      /^0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) had untolerated taint\(s\)\./,
    );
    assert.deepEqual([condition?.status, condition?.reason], ["False", "Unschedulable"]);
    const [event] = await cluster.events("big");
    assert.deepEqual([event?.reason, event?.message], ["FailedScheduling", condition?.message]);
    await cluster.addNode("c", { status: { allocatable: { cpu: "8", memory: "8Gi", pods: "110" } } });
    await cluster.wait(10);
    assert.equal(await cluster.outcome("big"), "c");
    await cluster.end();
  });

  test("leaves Pods with scheduling gates alone until the gates are gone", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addPod("gated", { schedulingGates: [{ name: "example.com/wait" }] });
    await cluster.wait();
    assert.equal((await cluster.pod("gated")).spec?.nodeName, undefined);
    await cluster.client.patch(
      cluster.resource("pods"),
      { namespace: "default", name: "gated" },
      { spec: { schedulingGates: null } },
    );
    await cluster.wait();
    assert.equal(await cluster.outcome("gated"), "a");
    await cluster.end();
  });

  test("counts Pods that are being bound", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addPod("one", cpu("3"));
    await cluster.addPod("other", cpu("3"));
    await cluster.wait();
    assert.equal(await cluster.outcome("one"), "a");
    assert.match((await cluster.outcome("other")) ?? "", /^0\/1 nodes are available: 1 Insufficient cpu\./);
    await cluster.delete("pods", "one", { gracePeriodSeconds: 0 });
    await cluster.wait(10);
    assert.equal(await cluster.outcome("other"), "a");
    await cluster.end();
  });

  test("tries again with backoff while there are no nodes", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addPod("early");
    await cluster.wait(5);
    assert.equal(await cluster.outcome("early"), "no nodes available to schedule pods");
    await cluster.addNode("a");
    await cluster.wait(10);
    assert.equal(await cluster.outcome("early"), "a");
    await cluster.end();
  });

  test("ignores Pods of other schedulers", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addPod("foreign", { schedulerName: "other" });
    await cluster.wait(1);
    assert.equal((await cluster.pod("foreign")).spec?.nodeName, undefined);
    await cluster.end();
  });
});

suite("preemption", () => {
  const priority = (value: number, amount: string) => ({ ...cpu(amount), priority: value });

  test("removes the least important Pod, and binds the Pod to its node", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.addPod("low", { ...priority(1, "3"), nodeName: "a" });
    await cluster.addPod("middle", { ...priority(2, "3"), nodeName: "b" });
    await cluster.addPod("high", priority(3, "3"));
    await cluster.wait();
    const high = await cluster.pod("high");
    assert.equal(
      conditionOf(high, "PodScheduled")?.message,
      "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on node a, preempting 1 victims",
    );
    assert.equal(high.status?.nominatedNodeName, "a");
    const low = await cluster.pod("low");
    const condition = conditionOf(low, "DisruptionTarget");
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ["True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"],
    );
    assert.notEqual(low.metadata.deletionTimestamp, undefined);
    const [event] = await cluster.events("low");
    assert.deepEqual([event?.reason, event?.message], ["Preempted", `Preempted by pod ${high.metadata.uid} on node a`]);
    await cluster.delete("pods", "low", { gracePeriodSeconds: 0 });
    await cluster.wait(10);
    assert.equal(await cluster.outcome("high"), "a");
    await cluster.end();
  });

  test("says why it does not help", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addNode("b", { spec: { unschedulable: true } });
    await cluster.addPod("same", { ...priority(3, "3"), nodeName: "a" });
    await cluster.addPod("high", priority(3, "3"));
    await cluster.addPod("never", { ...priority(4, "3"), preemptionPolicy: "Never" });
    await cluster.wait();
    const reasons = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.";
    assert.equal(
      await cluster.outcome("high"),
      `${reasons} preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
    );
    assert.equal(await cluster.outcome("never"), `${reasons} preemption: not eligible due to preemptionPolicy=Never.`);
    await cluster.end();
  });

  test("spares Pods that a PodDisruptionBudget protects", async () => {
    const cluster = new ScheduledCluster();
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.create("poddisruptionbudgets", "budget", {
      content: { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } },
    });
    await cluster.create("pods", "protected", {
      content: {
        metadata: { name: "protected", namespace: "default", labels: { app: "web" } },
        spec: { ...priority(1, "3"), nodeName: "a", schedulerName: "default-scheduler" },
      },
    });
    await cluster.addPod("other", { ...priority(2, "3"), nodeName: "b" });
    await cluster.addPod("high", priority(3, "3"));
    await cluster.wait();
    assert.equal((await cluster.pod("high")).status?.nominatedNodeName, "b");
    await cluster.end();
  });
});
