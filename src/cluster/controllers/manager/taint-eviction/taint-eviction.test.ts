import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { conditionOf } from "../../shared/pods.ts";
import { nodeLifecycle } from "../node-lifecycle/node-lifecycle.ts";
import { NodeCluster } from "../nodes.suite.ts";
import { taintEviction } from "./taint-eviction.ts";

const TAINT = { key: "team", value: "a", effect: "NoExecute" };
const tolerating = (tolerationSeconds?: number, key = "team"): JsonObject => ({
  tolerations: [
    { key, operator: "Exists", effect: "NoExecute", ...(tolerationSeconds !== undefined && { tolerationSeconds }) },
  ],
});
const evicted = (name: string) => `Normal TaintManagerEviction: Marking for deletion Pod default/${name}`;
const cancelled = (name: string) => `Normal TaintManagerEviction: Cancelling deletion of Pod default/${name}`;

suite("taint-eviction-controller", () => {
  let cluster: NodeCluster;

  beforeEach(async () => {
    cluster = new NodeCluster();
    cluster.start(taintEviction(cluster));
    await cluster.addNode("a");
  });
  afterEach(() => cluster.end());

  const isDeleted = async (name: string) => (await cluster.pod(name))?.metadata.deletionTimestamp !== undefined;

  test("deletes Pods that do not tolerate a taint, and marks them before", async () => {
    await cluster.addPod("web", "a");
    await cluster.addPod("patient", "a", tolerating());
    await cluster.addPod("other", "a", tolerating(undefined, "other"));
    await cluster.taint("a", TAINT);
    await cluster.pass(async () => (await isDeleted("web")) && isDeleted("other"));
    const pod = await cluster.pod("web");
    assert.deepEqual(pod && conditionOf(pod, "DisruptionTarget"), {
      type: "DisruptionTarget",
      observedGeneration: 1,
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: cluster.now,
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    });
    assert.deepEqual(await cluster.news("web"), [evicted("web")]);
    await cluster.wait(60);
    assert.equal(await isDeleted("patient"), false);
  });

  test("deletes a Pod after its shortest tolerationSeconds", async () => {
    const tolerations = [
      { key: "team", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
      { key: "rack", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
    ];
    await cluster.addPod("web", "a", { tolerations });
    await cluster.taint("a", TAINT, { key: "rack", effect: "NoExecute" });
    await cluster.wait(4);
    assert.equal(await isDeleted("web"), false);
    await cluster.wait(1);
    assert.equal(await isDeleted("web"), true);
  });

  test("keeps the time of an eviction when another taint is added", async () => {
    await cluster.addPod("web", "a", {
      tolerations: [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 10 }],
    });
    await cluster.taint("a", TAINT);
    await cluster.wait(6);
    await cluster.taint("a", TAINT, { key: "rack", effect: "NoExecute" });
    await cluster.wait(4);
    assert.equal(await isDeleted("web"), true);
  });

  test("cancels an eviction when the taint is removed, or the Pod is gone", async () => {
    for (const name of ["web", "gone"]) await cluster.addPod(name, "a", tolerating(10));
    await cluster.taint("a", TAINT);
    await cluster.wait(5);
    await cluster.delete("pods", "gone", { gracePeriodSeconds: 0 });
    await cluster.hasNews(cancelled("gone"), "gone");
    await cluster.taint("a");
    await cluster.hasNews(cancelled("web"), "web");
    await cluster.wait(10);
    assert.equal(await isDeleted("web"), false);
    await cluster.taint("a", TAINT);
    await cluster.wait(9);
    assert.equal(await isDeleted("web"), false);
    await cluster.wait(1);
    assert.equal(await isDeleted("web"), true);
  });

  test("deletes a Pod that is bound to a tainted node", async () => {
    await cluster.taint("a", TAINT);
    await cluster.addPod("web", "a");
    await cluster.pass(() => isDeleted("web"));
  });

  test("the Pods of a node that stops renewing its Lease are evicted after their tolerationSeconds", async () => {
    cluster.start(nodeLifecycle(cluster));
    await cluster.addNode("b");
    const unreachable = "node.kubernetes.io/unreachable";
    await cluster.addPod("web", "a", tolerating(300, unreachable));
    await cluster.addPod("daemon", "a", tolerating(undefined, unreachable));
    await cluster.live(340, "b");
    assert.equal(await isDeleted("web"), false);
    await cluster.live(20, "b");
    assert.equal(await isDeleted("web"), true);
    assert.equal(await isDeleted("daemon"), false);
  });
});
