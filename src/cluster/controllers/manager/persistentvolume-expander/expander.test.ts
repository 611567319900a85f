import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { until } from "../../shared/controllers.suite.ts";
import { volumeBinder } from "../persistentvolume-binder/binder.ts";
import { claimSpec, VolumeCluster, volumeSpec } from "../volumes.suite.ts";
import { volumeExpander } from "./expander.ts";

const CLAIMS = "persistentvolumeclaims";

suite("persistentvolume-expander-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(volumeBinder(cluster), volumeExpander(cluster));
  });
  afterEach(() => cluster.end());

  const grow = async (claim: JsonObject = {}) => {
    await cluster.addClaim("data", claimSpec("1Gi", claim));
    await cluster.hasClaim("data", "Bound");
    await cluster.merge(CLAIMS, "data", { spec: { resources: { requests: { storage: "2Gi" } } } });
  };

  test("waits for an external program", async () => {
    await cluster.addVolume("disk");
    await grow();
    await cluster.hasNews("data", "Normal ExternalExpanding: waiting for an external controller to expand this PVC");
    assert.deepEqual((await cluster.claim("data"))?.status?.capacity, { storage: "1Gi" });
  });

  test("names the CSI driver that expands volumes of a former in-tree plugin", async () => {
    await cluster.addVolume("disk", volumeSpec("1Gi", { csi: undefined, awsElasticBlockStore: { volumeID: "1" } }));
    await grow();
    await cluster.hasNews(
      "data",
      "Normal ExternalExpanding: CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc",
    );
    const resizer = async () =>
      (await cluster.claim("data"))?.metadata.annotations?.["volume.kubernetes.io/storage-resizer"];
    await until(async () => (await resizer()) === "ebs.csi.aws.com");
  });

  test("expands volumes of simulated classes", async () => {
    await cluster.addClass("simulated", "simulated.binnacle.dev", { allowVolumeExpansion: true });
    await grow({ storageClassName: "simulated" });
    await cluster.hasNews("data", "Normal VolumeResizeSuccessful: ExpandVolume succeeded for volume default/data");
    const claim = await cluster.claim("data");
    assert.deepEqual(claim?.status?.capacity, { storage: "2Gi" });
    assert.deepEqual((await cluster.volume(claim?.spec.volumeName ?? ""))?.spec.capacity, { storage: "2Gi" });
  });
});
