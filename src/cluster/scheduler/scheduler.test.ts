import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { conditionOf } from "../controllers/shared/pods.ts";
import { ScheduledCluster } from "./scheduler.suite.ts";

const cpu = (amount: string) => ({
  containers: [{ name: "main", image: "nginx", resources: { requests: { cpu: amount } } }],
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
