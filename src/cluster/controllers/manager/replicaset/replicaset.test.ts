import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { isObject } from "../../../../base/api/object.ts";
import type { ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { until } from "../../shared/controllers.suite.ts";
import { WorkloadCluster, workload } from "../workloads.suite.ts";
import { replicaSets, replicationControllers } from "./replicaset.ts";

suite("replicaset-controller", () => {
  let cluster: WorkloadCluster;

  beforeEach(() => {
    cluster = new WorkloadCluster();
    cluster.start(replicaSets(cluster), replicationControllers(cluster));
  });
  afterEach(() => cluster.end());

  const podNames = async () => (await cluster.pods()).map(({ metadata }) => metadata.name ?? "");
  const hasPods = (count: number) => until(async () => (await podNames()).length === count);
  const status = async () => ((await cluster.find("replicasets", "web")) as ReplicaSet | undefined)?.status;

  test("creates Pods from the template and counts them", async () => {
    const set = await cluster.post("replicasets", "web", workload("nginx", { replicas: 3 }));
    await cluster.untilReady(async () => (await status())?.availableReplicas === 3);
    assert.deepEqual(await status(), {
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
    for (const { metadata } of await cluster.pods()) {
      assert.match(metadata.name ?? "", /^web-[a-z0-9]{5}$/);
      const { uid = "" } = set.metadata;
      const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
      assert.deepEqual(metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    }
    const created = (await podNames()).map((name) => `Created pod: ${name}`);
    await until(async () => (await cluster.events("web")).length === 3);
    assert.deepEqual((await cluster.events("web")).sort(), created.sort());
  });

  test("replaces Pods that are deleted or fail", async () => {
    await cluster.post("replicasets", "web", workload("nginx", { replicas: 2 }));
    await hasPods(2);
    const [first = "", second = ""] = await podNames();
    await cluster.delete("pods", first);
    await until(async () => (await podNames()).length === 2 && !(await podNames()).includes(first));
    await cluster.setPod(second, "Failed");
    await hasPods(3);
  });

  test("deletes Pods that are not ready first", async () => {
    await cluster.post("replicasets", "web", workload("nginx", { replicas: 3 }));
    await hasPods(3);
    const [ready = ""] = await podNames();
    await cluster.setPod(ready, "Running");
    await cluster.patch("replicasets", "web", { spec: { replicas: 1 } });
    await until(async () => (await status())?.replicas === 1);
    assert.deepEqual(await podNames(), [ready]);
  });

  test("adopts matching Pods and releases others", async () => {
    const { template } = workload("nginx");
    assert.ok(isObject(template) && isObject(template.spec));
    await cluster.post("pods", "orphan", template.spec, { labels: { app: "web" } });
    await cluster.post("replicasets", "web", workload("nginx", { replicas: 2 }));
    await hasPods(2);
    const orphan = await cluster.find("pods", "orphan");
    assert.equal(orphan?.metadata.ownerReferences?.[0]?.name, "web");
    await cluster.patch("pods", "orphan", { metadata: { labels: { app: "other" } } });
    await hasPods(3);
    assert.equal((await cluster.find("pods", "orphan"))?.metadata.ownerReferences, undefined);
  });

  test("counts a Pod as available after minReadySeconds, without another change", async () => {
    await cluster.post("replicasets", "web", workload("nginx", { replicas: 1, minReadySeconds: 1 }));
    await cluster.untilReady(async () => (await status())?.readyReplicas === 1);
    await until(async () => (await status())?.availableReplicas === 1);
  });

  test("serves ReplicationControllers in the same way", async () => {
    const { template } = workload("nginx");
    await cluster.post("replicationcontrollers", "web", { replicas: 2, selector: { app: "web" }, template });
    await hasPods(2);
    const [pod] = await cluster.pods();
    assert.equal(pod?.metadata.ownerReferences?.[0]?.kind, "ReplicationController");
  });
});
