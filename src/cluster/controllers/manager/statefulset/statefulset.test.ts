import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { isObject, type JsonObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import type { ControllerRevision, StatefulSet } from "../../../../kinds/types/workloads.ts";
import { until } from "../../shared/controllers.suite.ts";
import { WorkloadCluster, workload } from "../workloads.suite.ts";
import { statefulSets } from "./statefulset.ts";

const CLAIM = {
  metadata: { name: "data", labels: { tier: "db" } },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const PARALLEL = { podManagementPolicy: "Parallel" };

suite("statefulset-controller", () => {
  let cluster: WorkloadCluster;

  beforeEach(() => {
    cluster = new WorkloadCluster();
  });
  afterEach(() => cluster.end());

  /** Starts the controller with a StatefulSet and the objects that a test has created before. */
  const create = async (more: JsonObject = {}, name = "web") => {
    const set = await cluster.post("statefulsets", name, workload("nginx:1", { serviceName: "web", ...more }));
    cluster.start(statefulSets(cluster));
    return set;
  };
  const change = (spec: JsonObject) => cluster.patch("statefulsets", "web", { spec });
  const setImage = (image: string) => change({ template: { spec: { containers: [{ name: "main", image }] } } });
  const web = async () => (await cluster.find("statefulsets", "web")) as StatefulSet;
  const status = async () => (await web()).status ?? {};
  /** Resolves when the controller has seen the spec and counts so many Pods. */
  const counts = (expected: JsonObject) =>
    until(async () => {
      const { metadata, status: now = {} } = await web();
      const isSeen = now.observedGeneration === metadata.generation;
      return isSeen && Object.entries(expected).every(([member, count]) => (now[member] ?? 0) === count);
    });
  /** Makes Pods ready until all have the template of the spec. */
  const complete = () =>
    cluster.untilReady(async () => {
      const { metadata, spec, status: now = {} } = await web();
      const isSeen = now.observedGeneration === metadata.generation && now.currentRevision === now.updateRevision;
      return isSeen && [now.replicas, now.updatedReplicas, now.availableReplicas].every((n) => n === spec.replicas);
    });
  const images = async () =>
    Object.fromEntries(
      (await cluster.pods()).map(({ metadata, spec }) => [metadata.name, spec?.containers?.[0]?.image]),
    );
  const names = async () => (await cluster.pods()).map(({ metadata }) => metadata.name);
  const revisions = () => cluster.list<ControllerRevision>("controllerrevisions");
  const numbers = async () => (await revisions()).map(({ revision }) => revision).sort();
  const owners = async (plural: string, name: string) => {
    const references = (await cluster.find(plural, name))?.metadata.ownerReferences ?? [];
    return references.map((owner) => `${owner.kind}/${owner.name}`);
  };
  /** Resolves when another Pod of this name exists. */
  const replaced = async (name: string, act: () => Promise<void>) => {
    const uid = async () => (await cluster.find("pods", name))?.metadata.uid;
    const before = await uid();
    await act();
    await until(async () => ![undefined, before].includes(await uid()));
  };
  const hasEvent = (message: string) => until(async () => (await cluster.events("web")).includes(message));

  test("creates a Pod with its identity, claim and revision", async () => {
    const set = await create({ volumeClaimTemplates: [CLAIM] });
    await complete();
    const [pod] = await cluster.pods();
    const [revision] = await revisions();
    const { uid = "" } = set.metadata;
    const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid, controller: true };
    const ownerReferences = [{ ...controller, blockOwnerDeletion: true }];
    assert.partialDeepStrictEqual(pod, {
      metadata: {
        name: "web-0",
        generateName: "web-",
        labels: {
          app: "web",
          "apps.kubernetes.io/pod-index": "0",
          "controller-revision-hash": "web-78f888c9d7",
          "statefulset.kubernetes.io/pod-name": "web-0",
        },
        ownerReferences,
      },
      spec: {
        hostname: "web-0",
        subdomain: "web",
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-web-0" } }],
      },
    });
    assert.partialDeepStrictEqual(revision, {
      metadata: {
        name: "web-78f888c9d7",
        labels: { app: "web", "controller.kubernetes.io/hash": "78f888c9d7" },
        ownerReferences,
      },
      data: { spec: { template: { $patch: "replace", metadata: { labels: { app: "web" } } } } },
      revision: 1,
    });
    const claim = await cluster.find("persistentvolumeclaims", "data-web-0");
    assert.deepEqual(claim?.metadata.labels, { app: "web", tier: "db" });
    assert.equal(claim?.metadata.ownerReferences, undefined);
    assert.deepEqual(await status(), {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      currentReplicas: 1,
      updatedReplicas: 1,
      currentRevision: "web-78f888c9d7",
      updateRevision: "web-78f888c9d7",
      collisionCount: 0,
      availableReplicas: 1,
    });
    await hasEvent("Create Pod web-0 in StatefulSet web successful");
    assert.deepEqual(await cluster.events("web"), [
      "Create Claim data-web-0 Pod web-0 in StatefulSet web success",
      "Create Pod web-0 in StatefulSet web successful",
    ]);
  });

  test("creates Pods one after the other and removes them in reverse", async () => {
    await create({ replicas: 3 });
    await counts({ replicas: 1 });
    await cluster.setPod("web-0", "Running");
    await counts({ replicas: 2, readyReplicas: 1 });
    assert.deepEqual(await names(), ["web-0", "web-1"]);
    await complete();
    await change({ replicas: 1 });
    await counts({ replicas: 1 });
    assert.deepEqual(await names(), ["web-0"]);
    const deleted = (await cluster.events("web")).filter((message) => message.startsWith("Delete"));
    assert.deepEqual(deleted, [
      "Delete Pod web-2 in StatefulSet web successful",
      "Delete Pod web-1 in StatefulSet web successful",
    ]);
  });

  test("does not scale down while a Pod that stays is not ready", async () => {
    await create({ replicas: 2 });
    await complete();
    await cluster.setPod("web-0", "Running", false);
    await change({ replicas: 1 });
    await counts({ replicas: 2 });
    await cluster.setPod("web-0", "Running");
    await counts({ replicas: 1 });
  });

  test("creates Pods at once with the policy Parallel, from the first ordinal", async () => {
    await create({ replicas: 3, ...PARALLEL, ordinals: { start: 5 } });
    await counts({ replicas: 3 });
    assert.deepEqual(await names(), ["web-5", "web-6", "web-7"]);
    await change({ ordinals: { start: 6 } });
    await until(async () => (await names()).join() === "web-6,web-7,web-8");
  });

  test("updates Pods from the highest ordinal to the partition", async () => {
    await create({ replicas: 3 });
    await complete();
    await change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
    await setImage("nginx:2");
    await until(async () => (await images())["web-2"] === "nginx:2");
    assert.deepEqual(await images(), { "web-0": "nginx:1", "web-1": "nginx:1", "web-2": "nginx:2" });
    await cluster.untilReady(
      async () => (await status()).readyReplicas === 3 && (await status()).updatedReplicas === 2,
    );
    assert.deepEqual(await images(), { "web-0": "nginx:1", "web-1": "nginx:2", "web-2": "nginx:2" });
    const { currentRevision, updateRevision, currentReplicas } = await status();
    assert.equal(currentReplicas, 1);
    assert.notEqual(currentRevision, updateRevision);
    await replaced("web-0", () => cluster.delete("pods", "web-0"));
    assert.equal((await images())["web-0"], "nginx:1");
    await change({ updateStrategy: { rollingUpdate: { partition: 0 } } });
    await complete();
    assert.equal((await images())["web-0"], "nginx:2");
  });

  for (const [maxUnavailable, replaced] of [
    [2, 2],
    ["50%", 2],
    ["1%", 1],
  ] as const) {
    test(`replaces ${replaced} of 4 Pods at once with maxUnavailable ${maxUnavailable}`, async () => {
      await create({ replicas: 4, ...PARALLEL, updateStrategy: { rollingUpdate: { maxUnavailable } } });
      await complete();
      await setImage("nginx:2");
      await counts({ replicas: 4, updatedReplicas: replaced });
      await complete();
      assert.deepEqual(new Set(Object.values(await images())), new Set(["nginx:2"]));
    });
  }

  test("replaces unavailable Pods of an old revision beyond maxUnavailable with the policy Parallel", async () => {
    await create({ replicas: 3, ...PARALLEL });
    await counts({ replicas: 3 });
    await setImage("nginx:2");
    await counts({ updatedReplicas: 3 });
  });

  test("updates only deleted Pods with the strategy OnDelete", async () => {
    await create({ replicas: 2, updateStrategy: { type: "OnDelete" } });
    await complete();
    await setImage("nginx:2");
    await counts({ updatedReplicas: 0 });
    await cluster.delete("pods", "web-0");
    await counts({ updatedReplicas: 1 });
    assert.deepEqual(await images(), { "web-0": "nginx:2", "web-1": "nginx:1" });
  });

  test("replaces Pods that have failed or succeeded", async () => {
    await create({ replicas: 1 });
    for (const phase of ["Failed", "Succeeded"]) {
      await complete();
      await replaced("web-0", () => cluster.setPod("web-0", phase));
    }
  });

  test("gives an old revision a new number when its template returns", async () => {
    await create({ replicas: 1 });
    await complete();
    await setImage("nginx:2");
    await complete();
    await setImage("nginx:1");
    await complete();
    assert.deepEqual(await numbers(), [2, 3]);
    assert.equal((await status()).currentRevision, "web-78f888c9d7");
  });

  test("keeps as many old revisions as revisionHistoryLimit", async () => {
    await create({ replicas: 1, revisionHistoryLimit: 1 });
    for (const image of ["nginx:2", "nginx:3", "nginx:4"]) {
      await complete();
      await setImage(image);
    }
    await complete();
    await until(async () => (await numbers()).join() === "3,4");
  });

  test("takes another name for a revision if one with other data has it", async () => {
    await cluster.create("controllerrevisions", "web-78f888c9d7", { content: { data: {}, revision: 1 } });
    await create({ replicas: 1 });
    await complete();
    assert.equal((await status()).collisionCount, 1);
    const { updateRevision } = await status();
    assert.notEqual(updateRevision, "web-78f888c9d7");
    const revision = (await revisions()).find(({ metadata }) => metadata.name === updateRevision);
    assert.equal(revision?.metadata.labels?.["controller.kubernetes.io/hash"], "78f888c9d7");
  });

  test("keeps a revision that only lacks defaults", async () => {
    const { template } = workload("nginx:1");
    assert.ok(isObject(template));
    const data = { spec: { template: { ...template, $patch: "replace" } } };
    const labels = { app: "web" };
    const metadata = { name: "old", namespace: "default", labels };
    await cluster.create("controllerrevisions", "old", { content: { metadata, data, revision: 7 } });
    await create({ replicas: 1 });
    await complete();
    assert.equal((await status()).updateRevision, "old");
    assert.deepEqual(await owners("controllerrevisions", "old"), ["StatefulSet/web"]);
  });

  for (const { whenDeleted, whenScaled, kept, removed } of [
    { whenDeleted: "Retain", whenScaled: "Retain", kept: [], removed: [] },
    { whenDeleted: "Delete", whenScaled: "Retain", kept: ["StatefulSet/web"], removed: ["StatefulSet/web"] },
    { whenDeleted: "Retain", whenScaled: "Delete", kept: [], removed: ["Pod/web-1"] },
    { whenDeleted: "Delete", whenScaled: "Delete", kept: ["StatefulSet/web"], removed: ["Pod/web-1"] },
  ]) {
    test(`sets the owners of claims: deleted ${whenDeleted}, scaled ${whenScaled}`, async () => {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted, whenScaled };
      await create({ replicas: 2, volumeClaimTemplates: [CLAIM], persistentVolumeClaimRetentionPolicy });
      await complete();
      for (const name of ["data-web-0", "data-web-1"]) {
        assert.deepEqual(await owners("persistentvolumeclaims", name), kept);
      }
      await change({ replicas: 1 });
      await counts({ replicas: 1 });
      assert.deepEqual(await owners("persistentvolumeclaims", "data-web-0"), kept);
      assert.deepEqual(await owners("persistentvolumeclaims", "data-web-1"), removed);
    });
  }

  test("changes the owners of claims with the policy, and leaves those of another controller", async () => {
    await create({ replicas: 2, volumeClaimTemplates: [CLAIM] });
    await complete();
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "1", controller: true };
    await cluster.patch("persistentvolumeclaims", "data-web-0", { metadata: { ownerReferences: [other] } });
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } });
    await until(async () => (await owners("persistentvolumeclaims", "data-web-1")).join() === "StatefulSet/web");
    assert.deepEqual(await owners("persistentvolumeclaims", "data-web-0"), ["ConfigMap/other"]);
    await hasEvent("Update Pod web-1 in StatefulSet web successful");
  });

  test("adopts orphans with names of the set, and releases Pods that no longer match", async () => {
    const { template } = workload("nginx:1");
    assert.ok(isObject(template) && isObject(template.spec));
    for (const name of ["web-0", "other-0"])
      await cluster.post("pods", name, template.spec, { labels: { app: "web" } });
    await create({ replicas: 1, updateStrategy: { type: "OnDelete" } });
    await cluster.untilReady(async () => (await status()).readyReplicas === 1);
    await hasEvent("Update Pod web-0 in StatefulSet web successful");
    assert.deepEqual(await owners("pods", "web-0"), ["StatefulSet/web"]);
    assert.deepEqual(await owners("pods", "other-0"), []);
    assert.equal((await cluster.find("pods", "web-0"))?.metadata.labels?.["apps.kubernetes.io/pod-index"], "0");
    await cluster.patch("pods", "web-0", { metadata: { labels: { app: "other" } } });
    await until(async () => (await owners("pods", "web-0")).length === 0);
  });

  test("waits for minReadySeconds before the next Pod, without another change", async () => {
    const clock = new ManualClock();
    cluster = new WorkloadCluster(undefined, { clock });
    await create({ replicas: 2, minReadySeconds: 10 });
    await counts({ replicas: 1 });
    await cluster.setPod("web-0", "Running");
    await counts({ readyReplicas: 1, availableReplicas: 0 });
    assert.deepEqual(await names(), ["web-0"]);
    await clock.advance(10_000);
    await counts({ replicas: 2, availableReplicas: 1 });
  });

  test("records why a Pod cannot be created", async () => {
    const name = "x".repeat(63);
    await create({}, name);
    await until(async () => (await cluster.events(name)).length > 0);
    const [message = ""] = await cluster.events(name);
    assert.match(message, /^Create Pod x+-0 in StatefulSet x+ failed error: Pod "x+-0" is invalid: /);
    await until(() => cluster.problems.length > 0);
    await cluster.stop();
    cluster.problems.length = 0;
  });

  test("rejects a stored StatefulSet with the strategy Recreate, whose gate is off", async () => {
    await create({ replicas: 1 });
    await complete();
    await cluster.rewrite("statefulsets", "web", ({ spec }) => {
      if (isObject(spec)) spec.updateStrategy = { type: "Recreate" };
    });
    await hasEvent(
      "statefulset default/web uses Recreate strategy but feature gate StatefulSetRecreateStrategy is disabled",
    );
    await cluster.stop();
    cluster.problems.length = 0;
  });
});
