import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { Deployment, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { until } from "../../shared/controllers.suite.ts";
import { replicaSets } from "../replicaset/replicaset.ts";
import { WorkloadCluster, workload } from "../workloads.suite.ts";
import { deployments } from "./deployment.ts";

suite("deployment-controller", () => {
  let cluster: WorkloadCluster;

  beforeEach(() => {
    cluster = new WorkloadCluster();
    cluster.start(replicaSets(cluster), deployments(cluster));
  });
  afterEach(() => cluster.end());

  const web = async () => (await cluster.find("deployments", "web")) as Deployment;
  const condition = async (type: string) => (await web()).status?.conditions?.find((one) => one.type === type);
  const sets = () => cluster.list<ReplicaSet>("replicasets");
  /** The sizes of all ReplicaSets, by revision. */
  const sizes = async () => {
    const byRevision = (await sets()).map(({ metadata, spec }) => [
      Number(metadata.annotations?.["deployment.kubernetes.io/revision"]),
      spec.replicas,
    ]);
    return Object.fromEntries(byRevision);
  };
  const create = (more: JsonObject = {}) =>
    cluster.post("deployments", "web", workload("nginx:1", { replicas: 4, ...more }));
  const setImage = (image: string) =>
    cluster.patch("deployments", "web", { spec: { template: { spec: { containers: [{ name: "main", image }] } } } });
  const isComplete = async () => {
    const { metadata, status, spec } = await web();
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
    return counts.every((count) => count === spec.replicas) && status?.observedGeneration === metadata.generation;
  };
  const complete = () =>
    cluster.untilReady(
      async () => (await isComplete()) && (await condition("Progressing"))?.reason === "NewReplicaSetAvailable",
    );

  test("creates a ReplicaSet and becomes available", async () => {
    await create();
    await complete();
    const [set] = await sets();
    const name = set?.metadata.name ?? "";
    const hash = set?.metadata.labels?.["pod-template-hash"];
    assert.equal(name, `web-${hash}`);
    assert.deepEqual(set?.spec.selector?.matchLabels, { app: "web", "pod-template-hash": hash });
    assert.deepEqual(set?.metadata.annotations, {
      "deployment.kubernetes.io/desired-replicas": "4",
      "deployment.kubernetes.io/max-replicas": "5",
      "deployment.kubernetes.io/revision": "1",
    });
    assert.equal((await web()).metadata.annotations?.["deployment.kubernetes.io/revision"], "1");
    assert.partialDeepStrictEqual(await condition("Available"), {
      status: "True",
      reason: "MinimumReplicasAvailable",
      message: "Deployment has minimum availability.",
    });
    assert.partialDeepStrictEqual(await condition("Progressing"), {
      status: "True",
      message: `ReplicaSet "${name}" has successfully progressed.`,
    });
    await until(async () => (await cluster.events("web")).includes(`Scaled up replica set ${name} from 0 to 4`));
  });

  test("rolls out a new template within its limits", async () => {
    await create({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await complete();
    await setImage("nginx:2");
    await until(async () => (await web()).status?.updatedReplicas === 2);
    assert.deepEqual(await sizes(), { 1: 3, 2: 2 });
    await complete();
    assert.deepEqual(await sizes(), { 1: 0, 2: 4 });
    for (const { spec } of await cluster.pods()) assert.equal(spec?.containers?.[0]?.image, "nginx:2");
  });

  test("replaces all Pods at once with the strategy Recreate", async () => {
    await create({ strategy: { type: "Recreate" } });
    await complete();
    await setImage("nginx:2");
    await complete();
    assert.deepEqual(await sizes(), { 1: 0, 2: 4 });
  });

  test("goes back to an old ReplicaSet when its template returns", async () => {
    await create();
    await complete();
    await setImage("nginx:2");
    await complete();
    await setImage("nginx:1");
    await complete();
    assert.deepEqual(await sizes(), { 2: 0, 3: 4 });
    const first = (await sets()).find(({ spec }) => spec.replicas === 4);
    assert.equal(first?.metadata.annotations?.["deployment.kubernetes.io/revision-history"], "1");
  });

  test("rolls back for the annotation of extensions/v1beta1", async () => {
    await create();
    await complete();
    await setImage("nginx:2");
    await complete();
    const annotations = { "deprecated.deployment.rollback.to": "1" };
    await cluster.patch("deployments", "web", { metadata: { annotations } });
    await cluster.untilReady(async () =>
      (await cluster.events("web")).includes('Rolled back deployment "web" to revision 1'),
    );
    await complete();
    assert.equal((await web()).spec.template?.spec?.containers?.[0]?.image, "nginx:1");
    assert.equal((await web()).metadata.annotations?.["deprecated.deployment.rollback.to"], undefined);
  });

  test("does not roll out while it is paused, but scales", async () => {
    await create();
    await complete();
    await cluster.patch("deployments", "web", { spec: { paused: true } });
    await until(async () => (await condition("Progressing"))?.reason === "DeploymentPaused");
    await setImage("nginx:2");
    await cluster.patch("deployments", "web", { spec: { replicas: 6 } });
    await cluster.untilReady(async () => (await web()).status?.availableReplicas === 6);
    assert.deepEqual(await sizes(), { 1: 6 });
    await cluster.patch("deployments", "web", { spec: { paused: false } });
    await complete();
    assert.deepEqual(await sizes(), { 1: 0, 2: 6 });
  });

  test("keeps the condition of a resumed Deployment until its new ReplicaSet has Pods", async () => {
    await cluster.end();
    cluster = new WorkloadCluster();
    cluster.start(deployments(cluster));
    await create({ paused: true });
    await until(async () => (await condition("Progressing"))?.reason === "DeploymentPaused");
    await cluster.patch("deployments", "web", { spec: { paused: false } });
    await until(async () => (await web()).metadata.annotations?.["deployment.kubernetes.io/revision"] === "1");
    assert.equal((await condition("Progressing"))?.reason, "DeploymentResumed");
  });

  test("scales in proportion in the middle of a rollout", async () => {
    await create({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    await complete();
    await setImage("nginx:bad");
    await until(async () => (await web()).status?.updatedReplicas === 5);
    assert.deepEqual(await sizes(), { 1: 8, 2: 5 });
    await cluster.patch("deployments", "web", { spec: { replicas: 15 } });
    await until(async () => (await web()).status?.updatedReplicas === 7);
    assert.deepEqual(await sizes(), { 1: 11, 2: 7 });
  });

  test("does not count available Pods that a ReplicaSet is about to delete", async () => {
    await cluster.end();
    cluster = new WorkloadCluster();
    cluster.start(deployments(cluster));
    const setAvailable = async (image: string, count: number) => {
      const set = (await sets()).find(({ spec }) => spec.template?.spec?.containers?.[0]?.image === image);
      const status = { replicas: count, readyReplicas: count, availableReplicas: count };
      const key = { namespace: "default", name: set?.metadata.name ?? "" };
      await cluster.client.patch(cluster.resource("replicasets"), key, { status }, { subresource: "status" });
    };
    await create({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    await until(async () => (await sizes())[1] === 10);
    await setAvailable("nginx:1", 10);
    await until(async () => (await web()).status?.availableReplicas === 10);
    await setImage("nginx:2");
    await until(async () => (await sizes())[2] === 5);
    // The status of the old ReplicaSet, which shall have 8 Pods now, still has 10.
    await setAvailable("nginx:2", 3);
    await until(async () => (await sizes())[2] > 5);
    assert.deepEqual(await sizes(), { 1: 5, 2: 8 });
  });

  test("keeps as many old ReplicaSets as its history may hold", async () => {
    await create({ revisionHistoryLimit: 1 });
    for (const image of ["nginx:2", "nginx:3", "nginx:4"]) {
      await complete();
      await setImage(image);
    }
    await complete();
    await until(async () => (await sets()).length === 2);
    assert.deepEqual(await sizes(), { 3: 0, 4: 4 });
  });

  test("reports a rollout that makes no progress", async () => {
    await create({ progressDeadlineSeconds: 1 });
    await until(async () => (await condition("Progressing"))?.reason === "ProgressDeadlineExceeded");
    const [set] = await sets();
    assert.partialDeepStrictEqual(await condition("Progressing"), {
      status: "False",
      message: `ReplicaSet "${set?.metadata.name}" has timed out progressing.`,
    });
  });

  test("uses another hash if a foreign ReplicaSet has the name", async () => {
    await create();
    await complete();
    const [set] = await sets();
    const name = set?.metadata.name ?? "";
    await cluster.delete("deployments", "web");
    await cluster.change("replicasets", name, (object) => {
      delete object.metadata.ownerReferences;
      object.metadata.labels = { app: "foreign" };
    });
    await create();
    await until(async () => (await sets()).length === 2);
    assert.equal((await web()).status?.collisionCount, 1);
  });
});
