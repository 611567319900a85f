import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { conditionOf } from "../../shared/pods.ts";
import type { DeviceTaintRule } from "../../shared/resource-slices.ts";
import { NodeCluster } from "../nodes.suite.ts";
import { deviceTaintEviction } from "./device-taint-eviction.ts";

const DRIVER = "gpu.example.com";
const DEVICES = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] };
const EVICTED = "Normal DeviceTaintManagerEviction: Marking for deletion";
const CANCELLED = "Normal DeviceTaintManagerEviction: Cancelling deletion";

suite("device-taint-eviction-controller", () => {
  let cluster: NodeCluster;

  beforeEach(() => {
    cluster = new NodeCluster();
    cluster.start(deviceTaintEviction(cluster));
  });
  afterEach(() => cluster.end());

  /** A Pod on a node, with a claim that has a device. */
  const addPod = async (name: string, device: string, tolerations: JsonObject[] = []) => {
    await cluster.post("resourceclaims", name, { devices: DEVICES });
    const containers = [{ name: "main", image: "nginx" }];
    const resourceClaims = [{ name: "gpu", resourceClaimName: name }];
    const { uid = "" } = (await cluster.post("pods", name, { containers, resourceClaims, nodeName: "a" })).metadata;
    const result = { request: "gpu", driver: DRIVER, pool: "a", device, tolerations };
    await cluster.rewrite("resourceclaims", name, (object) => {
      object.status = {
        allocation: { devices: { results: [result] } },
        reservedFor: [{ resource: "pods", name, uid }],
      };
    });
  };
  const slice = (generation: number, ...devices: JsonObject[]) => ({
    driver: DRIVER,
    nodeName: "a",
    pool: { name: "a", generation, resourceSliceCount: 1 },
    devices,
  });
  const taint = (effect = "NoExecute"): JsonObject => ({ key: "broken", effect, timeAdded: cluster.now });
  const addRule = (effect: string, deviceSelector: JsonObject = { driver: DRIVER }) =>
    cluster.post("devicetaintrules", "rule", { deviceSelector, taint: taint(effect) }, { namespace: "" });
  const isDeleted = async (name: string) => (await cluster.pod(name))?.metadata.deletionTimestamp !== undefined;
  const progress = async () => {
    const rule = (await cluster.find("devicetaintrules", "rule", "")) as DeviceTaintRule | undefined;
    const { reason, status, message } = rule?.status?.conditions?.[0] ?? {};
    return { reason, status, message };
  };
  const hasReason = (reason: string) => cluster.pass(async () => (await progress()).reason === reason);

  test("evicts the Pods of devices that a ResourceSlice taints", async () => {
    await addPod("web", "gpu-0");
    await addPod("other", "gpu-1");
    await cluster.post("resourceslices", "slice", slice(1, { name: "gpu-0" }, { name: "gpu-1" }), { namespace: "" });
    await cluster.wait(1);
    assert.equal(await isDeleted("web"), false);
    const devices = [{ name: "gpu-0", taints: [taint()] }, { name: "gpu-1" }];
    const key = { namespace: "", name: "slice" };
    await cluster.client.patch(cluster.resource("resourceslices"), key, { spec: { devices } });
    await cluster.pass(() => isDeleted("web"));
    await cluster.hasNews(EVICTED, "web");
    const pod = await cluster.pod("web");
    const { reason, message, observedGeneration } = (pod && conditionOf(pod, "DisruptionTarget")) ?? {};
    assert.deepEqual([reason, observedGeneration], ["DeletionByDeviceTaintManager", undefined]);
    assert.equal(message, "Device Taint manager: deleting due to NoExecute taint");
    assert.equal(await isDeleted("other"), false);
  });

  test("ignores taints of an outdated slice", async () => {
    await addPod("web", "gpu-0", [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 10 }]);
    const tainted = slice(1, { name: "gpu-0", taints: [taint()] });
    await cluster.post("resourceslices", "old", tainted, { namespace: "" });
    await cluster.wait(5);
    await cluster.post("resourceslices", "new", slice(2, { name: "gpu-0" }), { namespace: "" });
    await cluster.hasNews(CANCELLED, "web");
    await cluster.wait(10);
    assert.equal(await isDeleted("web"), false);
  });

  test("evicts by a rule after tolerationSeconds, and reports the progress", async () => {
    await addPod("now", "gpu-0");
    await addPod("later", "gpu-1", [{ key: "broken", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 }]);
    await addPod("never", "gpu-2", [{ key: "broken", operator: "Exists", effect: "NoExecute" }]);
    await addRule("NoExecute");
    await hasReason("PodsPendingEviction");
    await cluster.pass(() => isDeleted("now"));
    await cluster.wait(20);
    assert.deepEqual(await progress(), {
      reason: "PodsPendingEviction",
      status: "True",
      message: "1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller.",
    });
    assert.equal(await isDeleted("later"), false);
    await cluster.wait(30);
    assert.equal(await isDeleted("later"), true);
    assert.equal(await isDeleted("never"), false);
    assert.deepEqual(await progress(), {
      reason: "Completed",
      status: "False",
      message: "2 pods evicted since starting the controller.",
    });
  });

  test("cancels evictions when a rule is deleted", async () => {
    await addPod("web", "gpu-0", [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 }]);
    await addRule("NoExecute");
    await cluster.wait(5);
    await cluster.delete("devicetaintrules", "rule", {}, "");
    await cluster.hasNews(CANCELLED, "web");
    await cluster.wait(60);
    assert.equal(await isDeleted("web"), false);
  });

  test("reports what a rule without effect would do", async () => {
    await addPod("web", "gpu-0");
    const devices = [{ name: "gpu-0" }, { name: "gpu-1" }];
    await cluster.post("resourceslices", "slice", slice(1, ...devices), { namespace: "" });
    await addRule("None");
    await hasReason("NoEffect");
    const end = "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.";
    const what = "1 pod would be evicted in 1 namespace if the effect was NoExecute.";
    const message = `2 published devices selected. 1 allocated device selected. ${what} ${end}`;
    assert.deepEqual(await progress(), { reason: "NoEffect", status: "False", message });
    await cluster.wait(30);
    assert.equal(await isDeleted("web"), false);
  });
});
