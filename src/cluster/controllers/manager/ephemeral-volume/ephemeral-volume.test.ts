import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { until } from "../../shared/controllers.suite.ts";
import { claimSpec, VolumeCluster } from "../volumes.suite.ts";
import { ephemeralVolumeClaims } from "./ephemeral-volume.ts";

const TEMPLATE = { metadata: { labels: { app: "web" }, annotations: { note: "x" } }, spec: claimSpec("2Gi") };
const VOLUMES = [
  { name: "data", ephemeral: { volumeClaimTemplate: TEMPLATE } },
  { name: "work", emptyDir: {} },
];

suite("ephemeral-volume-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(ephemeralVolumeClaims(cluster));
  });
  afterEach(() => cluster.end());

  const hasClaim = () => until(async () => (await cluster.claim("web-data")) !== undefined);

  test("creates a claim that the Pod owns", async () => {
    const pod = await cluster.addPod("web", "", { volumes: VOLUMES });
    await hasClaim();
    const claim = await cluster.claim("web-data");
    const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: pod.metadata.uid };
    assert.deepEqual(claim?.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.deepEqual(claim?.metadata.labels, { app: "web" });
    assert.deepEqual(claim?.metadata.annotations, { note: "x" });
    assert.deepEqual(claim?.spec.resources, { requests: { storage: "2Gi" } });
  });

  test("creates a deleted claim again", async () => {
    await cluster.addPod("web", "", { volumes: VOLUMES });
    await hasClaim();
    const uid = (await cluster.claim("web-data"))?.metadata.uid;
    await cluster.remove("persistentvolumeclaims", "web-data");
    await until(async () => ![undefined, uid].includes((await cluster.claim("web-data"))?.metadata.uid));
  });

  test("does not take over a claim of the same name", async () => {
    await cluster.addClaim("web-data");
    await cluster.addPod("web", "", { volumes: VOLUMES });
    const message = "PVC default/web-data was not created for pod default/web (pod is not owner)";
    await cluster.hasNews("web", `Warning FailedBinding: ephemeral volume data: ${message}`);
    await until(() => cluster.problems.length > 0);
    await cluster.stop();
    cluster.problems.length = 0;
  });
});
